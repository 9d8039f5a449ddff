import { Readable } from "node:stream";
import type { Outbound } from "./outbound.ts";

/** As much of `fetch` as a client of a store needs: one request, and its answer with a body to be read or given up by the signal. */
export type Fetch = (
  url: URL,
  init: {
    readonly method: string;
    readonly headers: Headers;
    readonly body?: Uint8Array<ArrayBuffer> | string;
    readonly redirect: "manual";
    readonly signal: AbortSignal;
  },
) => Promise<Response>;

/** Longer than any wait of the clients that use it, which have limits of their own. */
const MAX_HEAD_MS = 300_000;

/** Statuses whose answers have no body, whatever was sent: `Response` takes none with them. */
const WITHOUT_BODY = new Set([204, 205, 304]);

/** The address leads somewhere we do not go. */
export class CallRefused extends Error {}

/** Requests to addresses that customers give, checked as all calls to them are. */
export function outboundFetch(outbound: Pick<Outbound, "send">): Fetch {
  return async (url, { method, headers, body, signal }) => {
    const answer = await outbound.send({
      method,
      url: url.href,
      headers: Object.fromEntries(headers),
      signal,
      timeoutMs: MAX_HEAD_MS,
      ...(body !== undefined && { body }),
    });
    if (!answer.ok) {
      if (answer.reason === "refused") throw new CallRefused(answer.message);
      throw new Error(answer.message);
    }
    const { response, status } = answer;
    const answered = new Headers();
    for (const [name, value] of Object.entries(response.headers))
      if (typeof value === "string") answered.set(name, value);
    const hasBody = method !== "HEAD" && !WITHOUT_BODY.has(status);
    if (!hasBody) response.destroy();
    return new Response(hasBody ? (Readable.toWeb(response) as ReadableStream<Uint8Array>) : null, {
      status: status >= 200 && status <= 599 ? status : 502,
      headers: answered,
    });
  };
}
