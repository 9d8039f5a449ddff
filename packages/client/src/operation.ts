import type { AnswerOf, BodyOf, Operation, RouteOf } from "@weir/contract";
import type { Call, CallOptions, Transport } from "./transport.ts";

type PathOf<Of extends Operation> = RouteOf<Of>["path"];

/** Names of the `:name` parts of a path. */
type ParameterOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParameterOf<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

type Parameters<Of extends Operation> = [ParameterOf<PathOf<Of>>] extends [never]
  ? { readonly params?: never }
  : { readonly params: Readonly<Record<ParameterOf<PathOf<Of>>, string>> };

type Body<Of extends Operation> =
  BodyOf<RouteOf<Of>> extends undefined ? { readonly body?: never } : { readonly body: BodyOf<RouteOf<Of>> };

/** The parameters of an operation, from the contract: path, body and query. */
export type Given<Of extends Operation> = CallOptions & Parameters<Of> & Body<Of> & { readonly query?: Call["query"] };

/** Call an operation of the contract and read its response. The compiler checks URL, body and response against the route. */
export async function call<const Of extends Operation>(
  transport: Transport,
  operation: Of,
  given: Given<Of>,
): Promise<AnswerOf<RouteOf<Of>>> {
  return (await answerOf(transport, operation, given).then(readBody)) as AnswerOf<RouteOf<Of>>;
}

/** The same, with the whole response, for its headers. */
export function answerOf<const Of extends Operation>(
  transport: Transport,
  operation: Of,
  { params = {}, ...call }: Call & { readonly params?: Readonly<Record<string, string>> | undefined },
): Promise<Response> {
  const [method = "", path = ""] = operation.split(" ");
  return transport.send(method, pathOf(path, params), call);
}

/** `/api/stream/:id` with its parameters, escaped. */
export function pathOf(path: string, params: Readonly<Record<string, string>>): string {
  return path.replace(/:(\w+)/g, (_part, name: string) => encodeURIComponent(params[name] ?? ""));
}

const readBody = (response: Response): Promise<unknown> | undefined =>
  response.status === 204 ? undefined : response.json();
