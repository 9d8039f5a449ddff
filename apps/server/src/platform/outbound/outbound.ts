import { lookup, Resolver } from "node:dns/promises";
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from "node:net";
import { pipeline } from "node:stream/promises";
import { connect as connectTls } from "node:tls";
import type { Clock } from "../clock.ts";
import { isInNetworks, isOfThisMachine } from "./outbound-address.ts";
import { AddressRefused, networkSentence } from "./outbound-failure.ts";
import { CALL, hostOf, placeOf, portOf, refusalOfAddress, refusalOfUrl, type UrlPurpose } from "./outbound-url.ts";

export { failureOf } from "./outbound-failure.ts";
export { FORWARD, PULL } from "./outbound-url.ts";

export interface OutboundSettings {
  readonly clock: Clock;
  readonly allowPrivate: boolean;
  /** Private networks that pulls may enter, such as `10.0.0.0/8`. */
  readonly pullNetworks?: readonly string[];
  /** Ports on which this process listens, and its public address. Read at every call, because ports may be assigned late. */
  readonly own: () => { readonly ports: readonly number[]; readonly publicUrl: string };
  /** Certificates (PEM) to trust instead of the system's. For tests. */
  readonly trusted?: string;
  /** Addresses of a host name. Rejects if there are none. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
}

export interface OutboundDial {
  readonly url: string;
  readonly purpose: UrlPurpose;
  /** Use TLS, and trust the system's certificates. */
  readonly isSecure: boolean;
}

export interface OutboundPost {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Deadline from the name lookup to the last byte read. */
  readonly timeoutMs: number;
  /** Limit for the response body; 0 to stop after the status. */
  readonly maxResponseBytes: number;
}

export interface OutboundRequest {
  /** GET where absent. */
  readonly method?: string;
  /** A call where absent. */
  readonly purpose?: UrlPurpose;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string | OutboundStream;
  /** Deadline from the name lookup to the head of the response. With a stream, the receiver has this long for each chunk, and for its answer after the last one. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** A body that is read while it is sent. */
export interface OutboundStream {
  /** Of all chunks together. */
  readonly bytes: number;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** The head of a response whose body must be read or destroyed. */
export type OutboundBody =
  | { readonly ok: true; readonly status: number; readonly response: IncomingMessage }
  | NoAnswer;

interface NoAnswer {
  readonly ok: false;
  /** `refused`: the server does not call this address. `network`: no meaningful response, for example because the host is unknown. */
  readonly reason: "refused" | "timeout" | "network";
  /** A sentence without the URL. */
  readonly message: string;
}

export type OutboundAnswer =
  | {
      readonly ok: true;
      readonly status: number;
      readonly statusText: string;
      /** The bytes before the limit, the deadline or the end. */
      readonly body: Buffer;
      readonly durationMs: number;
    }
  | (NoAnswer & { readonly durationMs: number });

const MAX_HEADER_BYTES = 16 * 1024;
const MAX_STATUS_TEXT = 100;

/**
 * The only way to a customer's URL. The check happens inside the connection attempt, on the very addresses that are connected to, so a name that
 * changes between check and connect gains nothing. Redirects are not followed, and connections are not reused.
 */
export class Outbound {
  readonly #settings: OutboundSettings;
  readonly #isOpen: ((address: string) => boolean) | undefined;

  constructor(settings: OutboundSettings) {
    this.#settings = settings;
    this.#isOpen = isInNetworks(settings.pullNetworks ?? []);
  }

  /** The reason why calls to this URL would be refused, as a sentence; null if its text shows none. For use when a URL is registered. */
  refusalOf(url: string, purpose: UrlPurpose = CALL): string | null {
    const { allowPrivate, own } = this.#settings;
    const { ports, publicUrl } = own();
    const name = hostOf(new URL(publicUrl));
    const ownHosts = [hostAndPort(publicUrl), ...ports.map((port) => `${name}:${port}`)];
    const rules = { allowPrivate, isOpen: this.#openedTo(purpose), ownHosts, ownPorts: ports };
    const text = refusalOfUrl(url, rules, purpose);
    if (text !== null) return text;
    const place = placeOf(url, purpose);
    return place && isIP(place.host) ? this.#refusalOfTarget(place.host, place.port, purpose) : null;
  }

  /** One POST. Never rejects. */
  async post({ url, body, headers, timeoutMs, maxResponseBytes }: OutboundPost): Promise<OutboundAnswer> {
    const { clock } = this.#settings;
    const startedAt = clock.monotonic();
    const passed = () => Math.round(clock.monotonic() - startedAt);
    const { signal } = new AbortController();
    const answer = await this.send({ method: "POST", url, headers, body, timeoutMs, signal });
    if (!answer.ok) return { ...answer, durationMs: passed() };
    const { status, response } = answer;
    const bytes = await this.#readBody(response, maxResponseBytes, timeoutMs - passed());
    response.destroy();
    const statusText = textOfStatus(response.statusMessage ?? "");
    return { ok: true, status, statusText, body: bytes, durationMs: passed() };
  }

  /**
   * A connection to this URL's destination, checked like a call, or a sentence that says why there is none. It is open at `connect`, or at
   * `secureConnect` with TLS. The caller listens for its `error`, which `failureOf` turns into words.
   */
  dial({ url, purpose, isSecure }: OutboundDial): Socket | string {
    const refusal = this.refusalOf(url, purpose);
    const place = placeOf(url, purpose);
    if (refusal !== null || place === null) return refusal ?? `it is not an ${purpose.schemes} address`;
    const { host, port } = place;
    const lookup = this.#lookupFor(port, purpose);
    const { trusted: ca } = this.#settings;
    if (!isSecure) return connectTcp({ host, port, lookup, noDelay: true });
    return connectTls({ host, port, lookup, ...(isIP(host) ? {} : { servername: host }), ...(ca && { ca }) });
  }

  /** Where this URL leads now, checked as calls are, for connections that are not TCP's. Rejects with what `failureOf` words. */
  async find({ url, purpose }: Omit<OutboundDial, "isSecure">): Promise<{ address: string; port: number }> {
    const refusal = this.refusalOf(url, purpose);
    const place = placeOf(url, purpose);
    if (refusal !== null || place === null)
      throw new AddressRefused(refusal ?? `it is not an ${purpose.schemes} address`);
    const { host, port } = place;
    const [address = ""] = isIP(host) ? [host] : await this.#addressesOf(host, port, purpose);
    return { address, port };
  }

  /**
   * One request. Rejects only when the signal is aborted, or the body's stream fails. The caller bounds the response's body, in bytes and in time.
   * A server may answer before it has read a streamed body; then the rest is sent while the response is read.
   */
  send({
    method = "GET",
    purpose = CALL,
    url,
    headers,
    body,
    timeoutMs,
    signal,
  }: OutboundRequest): Promise<OutboundBody> {
    const refusal = this.refusalOf(url, purpose);
    if (refusal !== null) return Promise.resolve({ ok: false, reason: "refused", message: refusal });
    const { trusted } = this.#settings;
    const target = new URL(url);
    const bytes = body === undefined ? null : isStream(body) ? body.bytes : Buffer.byteLength(body);
    return new Promise((resolve, reject) => {
      let isSettled = false;
      const settle = (answer: OutboundBody) => {
        if (isSettled) return;
        isSettled = true;
        deadline.cancel();
        if (!answer.ok) request.destroy();
        resolve(answer);
      };
      const fail = (reason: unknown) => {
        isSettled = true;
        deadline.cancel();
        request.destroy();
        reject(reason);
      };
      const startDeadline = () =>
        this.#settings.clock.after(timeoutMs, () =>
          settle({ ok: false, reason: "timeout", message: `no answer within ${timeoutMs / 1000} s` }),
        );
      let deadline = startDeadline();
      const request: ClientRequest = (target.protocol === "https:" ? httpsRequest : httpRequest)(target, {
        method,
        agent: false,
        ...(trusted && { ca: trusted }),
        headers: { ...headers, ...(bytes !== null && { "content-length": bytes }), "accept-encoding": "identity" },
        maxHeaderSize: MAX_HEADER_BYTES,
        lookup: this.#lookupFor(portOf(target), purpose),
        signal,
      });
      const answered = (response: IncomingMessage) => settle({ ok: true, status: response.statusCode ?? 0, response });
      request.once("response", answered);
      // 101 is a response without a body; what would follow it is not read.
      request.once("upgrade", (response, socket) => {
        socket.destroy();
        answered(response.destroy());
      });
      request.on("error", (error) => {
        if (signal.aborted) fail(signal.reason);
        else if (error instanceof AddressRefused) settle({ ok: false, reason: "refused", message: error.message });
        else settle({ ok: false, reason: "network", message: networkSentence(error) });
      });
      request.once("close", () =>
        settle({ ok: false, reason: "network", message: "the connection was closed without an answer" }),
      );
      if (body === undefined || !isStream(body)) {
        request.end(body);
        return;
      }
      const onChunk = () => {
        deadline.cancel();
        if (!isSettled) deadline = startDeadline();
      };
      // A failure of the connection is an `error` of the request.
      void pipeline(checked(body, { onChunk, onError: fail }), request).catch(() => {});
    });
  }

  /** The bytes before the limit, the end, a cut or the deadline; the status alone was the answer. */
  #readBody(response: IncomingMessage, limit: number, withinMs: number): Promise<Buffer> {
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      const done = () => {
        deadline.cancel();
        resolve(Buffer.concat(chunks).subarray(0, limit));
      };
      const deadline = this.#settings.clock.after(Math.max(0, withinMs), done);
      response.on("error", done).on("close", done);
      response.on("data", (chunk: Buffer) => {
        if (bytes < limit) chunks.push(chunk);
        bytes += chunk.length;
        if (bytes >= limit) done();
      });
      if (limit === 0 || response.destroyed) done();
    });
  }

  /** For connections: returns only addresses that may be called, and none if the name has any other address as well. */
  #lookupFor(port: number, purpose: UrlPurpose): LookupFunction {
    return (host, options, callback) => {
      this.#addressesOf(host, port, purpose).then(
        (found) => {
          const addresses = found.map((address) => ({ address, family: isIP(address) }));
          const { address = "", family } = addresses[0] ?? {};
          if (options.all) callback(null, addresses);
          else callback(null, address, family);
        },
        (error: Error) => callback(error, ""),
      );
    };
  }

  /** At least one. Rejects where one of them may not be called. */
  async #addressesOf(host: string, port: number, purpose: UrlPurpose): Promise<readonly string[]> {
    const found = await this.#resolve(host, purpose);
    const refusal = found.map((address) => this.#refusalOfTarget(address, port, purpose)).find((text) => text !== null);
    if (refusal != null) throw new AddressRefused(refusal);
    if (found.length === 0) throw new Error("ENOTFOUND");
    return found;
  }

  #resolve(host: string, purpose: UrlPurpose): Promise<readonly string[]> {
    const { resolve, allowPrivate } = this.#settings;
    const isInside = allowPrivate || this.#openedTo(purpose) !== undefined;
    return resolve ? resolve(host) : isInside ? resolveAsSystem(host) : resolveByDns(host);
  }

  #refusalOfTarget(address: string, port: number, purpose: UrlPurpose): string | null {
    const { allowPrivate, own } = this.#settings;
    if (own().ports.includes(port) && isOfThisMachine(address)) return "it leads back to this server";
    return refusalOfAddress(address, allowPrivate || this.#openedTo(purpose)?.(address) === true, purpose);
  }

  #openedTo({ entersOpenNetworks }: UrlPurpose): ((address: string) => boolean) | undefined {
    return entersOpenNetworks ? this.#isOpen : undefined;
  }
}

/** In a closed network names come from every source of the system: hosts file, search domains, mDNS. */
async function resolveAsSystem(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/** Queries DNS directly: the system's lookup blocks one of the four threads that write files for as long as a name server likes. */
async function resolveByDns(host: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const found = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  if (found.length === 0 && answers[0].status === "rejected") throw answers[0].reason;
  return found;
}

const isStream = (body: Uint8Array | string | OutboundStream): body is OutboundStream =>
  typeof body === "object" && "chunks" in body;

/** The chunks of a body, which must be as long as its `content-length` says. */
async function* checked(
  { chunks, bytes }: OutboundStream,
  { onChunk, onError }: { readonly onChunk: () => void; readonly onError: (reason: unknown) => void },
): AsyncGenerator<Uint8Array, void> {
  let sent = 0;
  try {
    for await (const chunk of chunks) {
      sent += chunk.byteLength;
      if (sent > bytes) break;
      yield chunk;
      onChunk();
    }
    if (sent !== bytes) throw new Error(`the body is not the ${bytes} bytes that were announced`);
  } catch (error) {
    onError(error);
    throw error;
  }
}

function hostAndPort(address: string): string {
  const url = new URL(address);
  return `${hostOf(url)}:${portOf(url)}`;
}

/** Servers write any text there, and no database accepts a NUL. */
const textOfStatus = (text: string): string => text.replaceAll(/\p{Cc}/gu, "").slice(0, MAX_STATUS_TEXT);
