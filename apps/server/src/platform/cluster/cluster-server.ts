import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Clock } from "../clock.ts";
import { limitHttp1 } from "../http/http-server.ts";
import type { TrustedProxies } from "../http/trusted-proxies.ts";
import type { Listener } from "../listener.ts";
import type { Log } from "../log.ts";
import { bodyHash, type ClusterSeal, STREAMED } from "./cluster-seal.ts";

/** Before the path that the viewer asked for. The number is the version of what is between nodes. */
export const FORWARD_PREFIX = "/cluster/v1/forward";
/** Before the path of what one node tells another. */
export const TELL_PREFIX = "/cluster/v1";
/** Of a body whose hash is sealed. */
export const MAX_HASHED_BYTES = 1024 * 1024;
const MAX_CONNECTIONS = 4_000;
/** More than a viewer's request has: its token is in the address and in the admission, and all of it is sealed. */
const MAX_HEAD_BYTES = 48 * 1024;
const BODY_WITHIN_MS = 10_000;
const LAST_ANSWERS_MS = 1_000;

/** What another node says of the request that it forwards. */
export interface Forwarded {
  /** As the sender's gate decided, for the receiver's; null where the sender decides nothing. */
  readonly admitted: string | null;
  /** An edge asks whether it may answer. */
  readonly isQuestion: boolean;
  /** Null where the request's own stream has it. */
  readonly body: Buffer | null;
}

/** Answers a node's own question: `url` begins behind the version. */
export type NodeHandler = (url: string, res: ServerResponse) => void;

/** Takes what a node tells, as JSON. Throws for what is none. */
export type ToldHandler = (told: string, res: ServerResponse) => void;

export interface ClusterHandlers {
  readonly forwarded: ForwardedHandler;
  /** The live window of a session. */
  readonly live: NodeHandler;
  /** A stream of this node has moved to the one that says so. */
  readonly moved: ToldHandler;
  /** What its viewers elsewhere were sent of a session of this node. */
  readonly sent: ToldHandler;
  /** Viewers whom this node counts. */
  readonly viewers: ToldHandler;
}

/** By the end of their path. */
const TOLD = ["moved", "sent", "viewers"] as const satisfies readonly (keyof ClusterHandlers)[];

export type ForwardedHandler = (req: IncomingMessage, res: ServerResponse, forwarded: Forwarded) => void;

export interface ClusterServerSettings {
  readonly listener: Pick<Listener, "open">;
  readonly seal: ClusterSeal;
  /** Told which connections other nodes have opened. */
  readonly proxies: TrustedProxies;
  readonly clock: Clock;
  readonly log: Log;
}

/** Answers what other nodes of this server ask. */
export class ClusterServer {
  readonly server: Server;
  readonly #settings: ClusterServerSettings;
  #handlers: ClusterHandlers | null = null;

  private constructor(settings: ClusterServerSettings) {
    this.#settings = settings;
    this.server = createServer({ noDelay: true }, (req, res) => void this.#answer(req, res));
    this.server.maxConnections = MAX_CONNECTIONS;
    limitHttp1(this.server, { maxHeaderSize: MAX_HEAD_BYTES });
  }

  /** Throws `StartupError` if the port is taken or not allowed. */
  static async open(settings: ClusterServerSettings): Promise<ClusterServer> {
    const opened = new ClusterServer(settings);
    const { listener, log } = settings;
    await listener.open(opened.server, (err) => log.error({ err }, "could not accept a node's connection"));
    return opened;
  }

  /** From now on, verified requests are answered. */
  serve(handlers: ClusterHandlers): void {
    this.#handlers = handlers;
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      const cut = this.#settings.clock.after(LAST_ANSWERS_MS, () => this.server.closeAllConnections());
      this.server.close(() => {
        cut.cancel();
        resolve();
      });
      this.server.closeIdleConnections();
    });
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { seal, proxies, log } = this.#settings;
    const { method = "", url = "", headers } = req;
    req.on("error", () => {});
    res.on("error", () => {});
    try {
      if (!(await seal.verify(method, url, headers))) return forbid(res);
      const body = headers["weir-body"] === STREAMED ? null : await this.#bodyOf(req);
      if (body === "wrong") return forbid(res);
      if (!this.#handlers) return unready(res);
      if (url.startsWith(`${TELL_PREFIX}/live/`)) return this.#handlers.live(url.slice(TELL_PREFIX.length), res);
      const told = method === "POST" ? TOLD.find((kind) => url === `${TELL_PREFIX}/${kind}`) : undefined;
      if (told) return this.#handlers[told](String(body ?? ""), res);
      if (!url.startsWith(`${FORWARD_PREFIX}/`)) return void res.writeHead(404, { "content-length": "0" }).end();
      // From here on it is the viewer's request.
      req.url = url.slice(FORWARD_PREFIX.length);
      headers["x-forwarded-for"] = String(headers["weir-viewer"] ?? "");
      headers["x-forwarded-host"] = String(headers["weir-host"] ?? "");
      headers["x-forwarded-proto"] = String(headers["weir-proto"] ?? "");
      delete headers.authorization;
      proxies.trust(req.socket);
      const admitted = headers["weir-admitted"];
      const isQuestion = headers["weir-question"] === "1";
      this.#handlers.forwarded(req, res, {
        admitted: admitted === undefined ? null : String(admitted),
        isQuestion,
        body,
      });
    } catch (error) {
      log.warn({ err: error }, "could not answer another node");
      if (res.headersSent) res.destroy();
      else unready(res);
    }
  }

  /** Reads the whole body, and compares it with the sealed hash. */
  async #bodyOf(req: IncomingMessage): Promise<Buffer | "wrong"> {
    const late = this.#settings.clock.after(BODY_WITHIN_MS, () => req.destroy());
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of req as AsyncIterable<Buffer>) {
        bytes += chunk.byteLength;
        if (bytes > MAX_HASHED_BYTES) return "wrong";
        chunks.push(chunk);
      }
    } finally {
      late.cancel();
    }
    const body = Buffer.concat(chunks);
    return bodyHash(body) === req.headers["weir-body"] ? body : "wrong";
  }
}

/** Without a reason: who may ask knows it. */
function forbid(res: ServerResponse): void {
  res.writeHead(403, { "content-length": "0", connection: "close" }).end();
}

function unready(res: ServerResponse): void {
  res.writeHead(503, { "content-length": "0", "retry-after": "1" }).end();
}
