import { Agent, type ClientRequest, type IncomingMessage, request, type ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import { LRUCache } from "lru-cache";
import type { Clock, Timer } from "../clock.ts";
import { onceClosed } from "../http/once-closed.ts";
import type { TrustedProxies } from "../http/trusted-proxies.ts";
import { Places } from "../limits/places.ts";
import type { Log } from "../log.ts";
import { placeOfAddress } from "./cluster-address.ts";
import { bodyHash, type ClusterSeal, STREAMED } from "./cluster-seal.ts";
import { FORWARD_PREFIX, TELL_PREFIX } from "./cluster-server.ts";
import { readLasting } from "./lasting-answer.ts";

/** Under way at once, of a client as at a node: each holds a connection to another node, and none waits for one. */
const PLACES = { inAll: 4_000, perHolder: 1_000 } as const;
const MAX_MOVES = 20_000;
/** Longer than answers of the playback gate are valid. */
const MOVES_KEPT_MS = 30_000;
/** Longer than any answer is waited for: that a WebRTC connection has ended takes up to 25 s. */
const HEAD_WITHIN_MS = 40_000;
const CONNECT_WITHIN_MS = 2_000;
const READ_HEAD_WITHIN_MS = 2_000;
/** More than most parts, so that each takes one read. */
const READ_BYTES = 256 * 1024;
/** Without a byte in either direction. */
const IDLE_MS = 60_000;

/** Of the viewer's request, what decides on the answer. No credentials: the sender's gate has read them. */
const SENT_ON = [
  ["accept", "accept-encoding", "content-length", "content-type", "if-none-match", "if-range", "origin", "range"],
  ["referer", "user-agent", "tus-resumable", "upload-checksum", "upload-length", "upload-metadata", "upload-offset"],
].flat();
/** Of the answer, what belongs to the connection between the nodes. */
const OF_CONNECTION = new Set(["connection", "keep-alive", "transfer-encoding", "date"]);

/** A node and where others reach it: an IP address and a port, or on one machine a Unix socket. */
export interface NodePlace {
  readonly nodeId: string;
  readonly address: string;
}

export interface ForwardOptions {
  /** Where the request's own is not what is asked for. */
  readonly url?: string;
  readonly admitted?: string;
  readonly isQuestion?: boolean;
  /** Where it has been read. Otherwise the request's body follows as it arrives. */
  readonly body?: Buffer;
}

/** What became of it. `failed`: nothing was sent to the client yet, and the other node does not answer. */
export type ForwardOutcome = "answered" | "failed" | "full";

export interface OtherNodesSettings {
  readonly seal: ClusterSeal;
  readonly nodeId: () => string;
  /** Where this node is reached. */
  readonly address: () => string;
  /** Where a node is reached; null if it is gone, or tells no address. */
  readonly findAddress: (nodeId: string) => Promise<string | null>;
  /** The nodes that serve media, this one too. */
  readonly findMedia: () => Promise<readonly NodePlace[]>;
  readonly proxies: TrustedProxies;
  readonly clock: Clock;
  readonly log: Log;
}

/** The other nodes of this server, which answer requests that this one cannot. One hop at most: what was forwarded is answered where it arrives. */
export class OtherNodes {
  readonly #settings: OtherNodesSettings;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: PLACES.perHolder, maxFreeSockets: 64, timeout: IDLE_MS });
  readonly #ofClients = new Places<string>(PLACES);
  readonly #atNodes = new Places<string>(PLACES);
  readonly #moves = new LRUCache<string, NodePlace>({ max: MAX_MOVES, ttl: MOVES_KEPT_MS });

  /** What comes from all nodes that are followed is read into it, one piece after the other. */
  readonly #buffer = Buffer.allocUnsafe(READ_BYTES);

  constructor(settings: OtherNodesSettings) {
    this.#settings = settings;
  }

  /** Forwarded requests under way. */
  get underWay(): number {
    return this.#ofClients.taken;
  }

  /** A stream has begun at a node, or moved there: known before any cached answer of the database. */
  moved(streamId: string, place: NodePlace): void {
    this.#moves.set(streamId, place);
  }

  /** The other node that has a stream; null if it is this one or none. `told`: what the database said some seconds ago. */
  placeOf(streamId: string, told: NodePlace | undefined): NodePlace | null {
    const place = this.#moves.get(streamId) ?? told;
    return place && place.nodeId !== this.self ? place : null;
  }

  /** This node's id, by which others find what it has made. */
  get self(): string {
    return this.#settings.nodeId();
  }

  /** Where others find this node. */
  get place(): NodePlace {
    return { nodeId: this.self, address: this.#settings.address() };
  }

  /** The nodes that serve media and are reached, this one too. Rejects while the database does not say. */
  media(): Promise<readonly NodePlace[]> {
    return this.#settings.findMedia();
  }

  close(): void {
    this.#agent.destroy();
  }

  /**
   * Ask a node something of this node's own, whose answer lasts: resolves with its status when it has ended. `take` gets what it brings, in views that are
   * valid until it returns. The signal ends it.
   */
  async read(to: NodePlace, path: string, take: (bytes: Buffer) => void, signal: AbortSignal): Promise<number> {
    const { seal, clock } = this.#settings;
    const url = TELL_PREFIX + path;
    const request = { to: connectionTo(to), path: url, headers: seal.sign("GET", url, {}) };
    return readLasting(request, { clock, signal, buffer: this.#buffer, take });
  }

  /** Tell a node something that changes what it does, as JSON of at most 1 MiB. Resolves with the head of its answer; the signal ends it. */
  async tell(to: NodePlace, path: string, told: unknown, signal: AbortSignal): Promise<IncomingMessage> {
    const { seal, clock } = this.#settings;
    const place = connectionTo(to);
    const url = TELL_PREFIX + path;
    const body = Buffer.from(JSON.stringify(told));
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const headers = { "content-length": String(body.byteLength), ...seal.sign("POST", url, {}, bodyHash(body)) };
    const asked = request({ ...place, agent: false, method: "POST", path: url, headers, signal });
    const late = clock.after(READ_HEAD_WITHIN_MS, () => asked.destroy(new Error("the node does not answer")));
    asked.once("response", (answer) => {
      late.cancel();
      // Without a reader, an error would end the process.
      answer.on("error", () => {});
      resolve(answer);
    });
    asked.on("error", (error) => {
      late.cancel();
      reject(error);
    });
    asked.end(body);
    return promise;
  }

  /** As `send`, to a node whose address is looked up; `unknown` if there is no such node any more. Rejects if that cannot be read. */
  async sendTo(
    nodeId: string,
    req: IncomingMessage,
    res: ServerResponse,
    options?: ForwardOptions,
  ): Promise<ForwardOutcome | "unknown"> {
    const address = nodeId === this.self ? null : await this.#settings.findAddress(nodeId);
    return address === null ? "unknown" : this.send(req, res, { nodeId, address }, options);
  }

  /** Has that node answer the request. Never rejects. */
  async send(
    req: IncomingMessage,
    res: ServerResponse,
    to: NodePlace,
    options: ForwardOptions = {},
  ): Promise<ForwardOutcome> {
    const { proxies, log } = this.#settings;
    const client = proxies.clientOf(req);
    if (!this.#ofClients.take(client)) return "full";
    if (!this.#atNodes.take(to.address)) {
      this.#ofClients.giveBack(client);
      return "full";
    }
    try {
      return await this.#send(req, res, to, options);
    } catch (error) {
      log.warn({ err: error, nodeId: to.nodeId }, "could not forward a request to another node");
      return "failed";
    } finally {
      this.#ofClients.giveBack(client);
      this.#atNodes.giveBack(to.address);
    }
  }

  async #send(
    req: IncomingMessage,
    res: ServerResponse,
    to: NodePlace,
    options: ForwardOptions,
  ): Promise<ForwardOutcome> {
    const { clock } = this.#settings;
    const sent = this.#begin(req, to, options);
    const { promise: head, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    let deadline: Timer | null = null;
    // An upload takes as long as its client does; until then, silence alone ends it.
    sent.once("finish", () => {
      deadline = clock.after(HEAD_WITHIN_MS, () => sent.destroy(new Error("the node does not answer")));
    });
    sent.once("response", resolve);
    sent.on("error", reject);
    sent.setTimeout(IDLE_MS, () => sent.destroy(new Error("the node has fallen silent")));
    // The client has left: nobody needs the answer.
    onceClosed(res, () => sent.destroy());
    const hasStream = options.body === undefined && hasBody(req);
    if (hasStream) pipeline(req, sent, () => {});
    else sent.end(options.body);
    const answer = await head.finally(() => deadline?.cancel());
    res.writeHead(answer.statusCode ?? 502, headOf(answer));
    await new Promise<void>((done) => pipeline(answer, res, () => done()));
    return "answered";
  }

  #begin(req: IncomingMessage, to: NodePlace, options: ForwardOptions): ClientRequest {
    const { seal, proxies, clock } = this.#settings;
    const { method = "GET" } = req;
    const place = connectionTo(to);
    const { url = req.url ?? "/", admitted, isQuestion = false, body } = options;
    const path = FORWARD_PREFIX + url;
    const headers: Record<string, string> = {
      "weir-viewer": proxies.addressOf(req),
      "weir-host": proxies.hostOf(req),
      "weir-proto": proxies.isSecure(req) ? "https" : "http",
      ...(admitted !== undefined && { "weir-admitted": admitted }),
      ...(isQuestion && { "weir-question": "1" }),
    };
    const hash = body ? bodyHash(body) : hasBody(req) ? STREAMED : undefined;
    const sent = request({
      ...place,
      agent: this.#agent,
      method,
      path,
      headers: { ...sentOn(req), ...seal.sign(method, path, headers, hash) },
    });
    sent.once("socket", (socket) => {
      if (!socket.connecting) return;
      const late = clock.after(CONNECT_WITHIN_MS, () => socket.destroy(new Error("the node cannot be reached")));
      socket.once("connect", () => late.cancel()).once("close", () => late.cancel());
    });
    return sent;
  }
}

/** Throws for an address that is none. */
function connectionTo({ address }: NodePlace): NonNullable<ReturnType<typeof placeOfAddress>> {
  const place = placeOfAddress(address);
  if (!place) throw new Error("the node's address is none");
  return place;
}

function sentOn({ headers }: IncomingMessage): Record<string, string> {
  const sent: Record<string, string> = {};
  for (const name of SENT_ON) if (headers[name] !== undefined) sent[name] = String(headers[name]);
  return sent;
}

const hasBody = ({ headers, method = "GET" }: IncomingMessage): boolean =>
  method !== "GET" &&
  method !== "HEAD" &&
  (Number(headers["content-length"] ?? 0) > 0 || "transfer-encoding" in headers);

function headOf({ rawHeaders }: IncomingMessage): string[] {
  const head: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (!OF_CONNECTION.has(name.toLowerCase())) head.push(name, rawHeaders[at + 1] ?? "");
  }
  return head;
}
