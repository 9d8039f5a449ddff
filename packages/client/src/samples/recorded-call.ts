import { WeirClient } from "../weir-client.ts";

/** One call of the client. */
export type ClientCall = (weir: WeirClient) => unknown;

/** A call that was not sent: its request, and how a program writes it. */
export interface RecordedCall {
  readonly method: string;
  /** With the query. */
  readonly url: string;
  /** The value that the request carries as JSON; undefined without a body. */
  readonly body: unknown;
  /** `streams.create`. */
  readonly name: string;
  readonly args: readonly unknown[];
  /** The call returns a stream of values, for `for await`. */
  readonly isEndless: boolean;
}

/** Make a call of the client without sending it. Throws if the call makes no request, or makes it later. */
export function recordCall(call: ClientCall, baseUrl: string): RecordedCall {
  const made: { request?: Pick<RecordedCall, "method" | "url" | "body">; name?: string; args?: readonly unknown[] } =
    {};
  const weir = new WeirClient({
    baseUrl,
    apiKey: "key",
    maxRetries: 0,
    fetch: async (url, { method = "GET", body } = {}) => {
      made.request ??= { method, url: String(url), body: body === undefined ? undefined : JSON.parse(String(body)) };
      // An answer that nobody repeats a request for.
      return new Response("{}", { status: 400 });
    },
  });
  const returned = call(
    named(weir, (name, args) => {
      made.name ??= name;
      made.args ??= args;
    }),
  );
  const isEndless = typeof returned === "object" && returned !== null && Symbol.asyncIterator in returned;
  const answer = isEndless ? (returned as AsyncIterable<unknown>)[Symbol.asyncIterator]().next() : returned;
  Promise.resolve(answer).catch(() => {});
  const { request, name, args } = made;
  if (!request || name === undefined || args === undefined) throw new Error("the call of the client sent no request");
  return { ...request, name, args, isEndless };
}

/** The client with every method of its nouns reporting how it was called. */
function named(weir: WeirClient, onCall: (name: string, args: readonly unknown[]) => void): WeirClient {
  const reporting = (of: object, name: (method: string) => string): object =>
    new Proxy(of, {
      get(target, key) {
        const member: unknown = Reflect.get(target, key);
        if (typeof member === "object" && member !== null)
          return reporting(member, (method) => `${String(key)}.${method}`);
        if (typeof member !== "function") return member;
        return (...args: unknown[]) => {
          onCall(name(String(key)), args);
          return member.apply(target, args) as unknown;
        };
      },
    });
  return reporting(weir, (method) => method) as WeirClient;
}
