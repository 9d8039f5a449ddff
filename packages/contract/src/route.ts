import { type Static, type TSchema, Type } from "typebox";

/** One operation of the API: where it is, who may call it, what goes in and what comes out. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With `:name` for parameters. */
  readonly path: string;
  readonly summary: string;
  /** `key`: an API key or the dashboard's cookie; `dashboard`: the cookie alone. */
  readonly auth: "key" | "dashboard" | "none";
  /** Of the dashboard: only where the sign-in reaches all projects of the account. */
  readonly needsAccount?: boolean;
  /** Pages of every origin may call it with a key that names no origins; the cookie stays with our own. */
  readonly anyOrigin?: boolean;
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** Status of success and the schema of its body; null where there is none. */
  readonly success: { readonly status: 200 | 201 | 204; readonly body: TSchema | null };
  /** Statuses that the operation itself adds to 401 and 500. */
  readonly failures: readonly number[];
}

/** The body of a request; undefined where it has no body. */
export type BodyOf<Of extends Route> = Of extends { readonly body: infer Body extends TSchema }
  ? Static<Body>
  : undefined;

/** The body of a successful answer; nothing where it answers without a body. */
export type AnswerOf<Of extends Route> = Of["success"]["body"] extends infer Body extends TSchema
  ? Static<Body>
  : Nothing;

type Nothing = ReturnType<() => void>;

/** The answer of what changes something and shows nothing. */
export const none = { status: 204, body: null } as const;
export const ok = <Body extends TSchema>(body: Body) => ({ status: 200, body }) as const;
export const flag = (description: string) => Type.Optional(Type.String({ description }));

/** Clips and assets come later; until then these lists are empty. */
export const clipList = Type.Array(Type.Unknown());
