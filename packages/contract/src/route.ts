import { type Static, type TSchema, Type } from "typebox";

/** One operation of the API: its URL, its callers, its input and its output. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With `:name` for parameters. */
  readonly path: string;
  readonly summary: string;
  /** `key`: an API key or the dashboard's cookie; `dashboard`: the cookie alone. */
  readonly auth: "key" | "dashboard" | "none";
  /** Dashboard only: requires a sign-in that reaches all projects of the account. */
  readonly needsAccount?: boolean;
  /** Pages of every origin may call it with a key that lists no origins. Only the dashboard's own pages may use the cookie. */
  readonly anyOrigin?: boolean;
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** Success status and the schema of its body; null if there is none. */
  readonly success: { readonly status: 200 | 201 | 204; readonly body: TSchema | null };
  /** Statuses that the operation adds to 401 and 500. */
  readonly failures: readonly number[];
}

/** The body of a request; undefined if it has none. */
export type BodyOf<Of extends Route> = Of extends { readonly body: infer Body extends TSchema }
  ? Static<Body>
  : undefined;

/** The body of a successful response; void if it has none. */
export type AnswerOf<Of extends Route> = Of["success"]["body"] extends infer Body extends TSchema
  ? Static<Body>
  : Nothing;

type Nothing = ReturnType<() => void>;

/** The response of operations that change something and return nothing. */
export const none = { status: 204, body: null } as const;
export const ok = <Body extends TSchema>(body: Body) => ({ status: 200, body }) as const;
export const flag = (description: string) => Type.Optional(Type.String({ description }));
