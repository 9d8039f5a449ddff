import type { TSchema } from "typebox";
import type { ErrorCode } from "../error-codes.ts";
import type { AnswerOf, BodyOf, Route } from "../route.ts";

/** The half of an operation that only people and generated clients read. The dashboard and `@weir/client` do not load it. */
export interface Description {
  /** What the operation does and what its caller should know, in more words than the summary. Markdown. */
  readonly description: string;
  readonly example: Example;
  /** The codes of errors that this operation adds to those of its kind (`errorsOf`). */
  readonly errors: readonly ErrorCode[];
  /** A body may be left out. */
  readonly bodyIsOptional?: boolean;
  /** Of an operation that needs no key: with one, it answers more. */
  readonly takesKey?: true;
  /** A second status that means success, with the same body. */
  readonly alsoAnswers?: { readonly status: 200; readonly description: string };
  /** The operation to call instead, in a new program. */
  readonly deprecatedFor?: string;
  /** A body that the server reads itself, so that the route has no schema of it. */
  readonly looseBody?: { readonly schema: TSchema; readonly types: readonly string[]; readonly example: unknown };
  /** The same content as server-sent events, for a request that does not ask for JSON. */
  readonly eventStream?: string;
}

/** One request that works, and its answer. */
export interface Example {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly answer?: unknown;
}

/** A description whose example fits its route: the compiler compares parameters, body and answer. */
type DescriptionOf<Of extends Route> = Omit<Description, "example"> & {
  readonly example: ExampleParams<Of["path"]> & {
    readonly query?: Readonly<Record<string, string>>;
  } & (Of extends { readonly body: TSchema } ? { readonly body: BodyOf<Of> } : { readonly body?: never }) &
    (AnswerOf<Of> extends object ? { readonly answer: AnswerOf<Of> } : { readonly answer?: never });
};

type ExampleParams<Path extends string> = [NameIn<Path>] extends [never]
  ? { readonly params?: never }
  : { readonly params: { readonly [Name in NameIn<Path>]: string } };

type NameIn<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NameIn<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** False for operations of the dashboard alone, and for the second address of an operation. */
export type IsPublic<Of extends Route> = Of["auth"] extends "dashboard"
  ? false
  : Of["path"] extends `/api/dashboard/${string}` | `/data/${string}` | `/analytics/${string}`
    ? false
    : true;

/** The same, of a value. */
export const isPublic = ({ auth, path }: Route): boolean =>
  auth !== "dashboard" && !/^\/(api\/dashboard|data|analytics)\//.test(path);

/** A description of each public operation of a table of routes; the compiler misses none. */
export type DescriptionsOf<Routes extends Record<string, Route>> = {
  readonly [Name in keyof Routes as IsPublic<Routes[Name]> extends true ? Name : never]: DescriptionOf<Routes[Name]>;
};
