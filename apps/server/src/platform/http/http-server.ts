import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Server as NetServer, Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import type { Clock } from "../clock.ts";
import type { Listener } from "../listener.ts";
import { oneAtATime } from "./one-at-a-time.ts";

/** How long a running request may take after the server begins to close. */
const LAST_ANSWERS_MS = 1_000;
/** For a request with a body, from its head to its last byte. */
const MAX_REQUEST_MS = 30_000;

const HTTP1_LIMITS = {
  // The longest access key (8 KiB) in a header, or sealed in the URL or in an edge's question about it (11 KiB).
  maxHeaderSize: 24 * 1024,
  maxHeadersCount: 100,
  // A deadline for a whole head rather than a single read: a byte per second does not get past it. `endLate` has that of a whole request.
  headersTimeout: 10_000,
  requestTimeout: 0,
  connectionsCheckingInterval: 2_000,
  // Longer than the 60 s of common load balancers, which must close first.
  keepAliveTimeout: 65_000,
};

export type HttpHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** The handlers of requests, for any version of HTTP. */
export interface HttpRoutes {
  /** Handles URLs with one of `mediaPrefixes`, without a framework. */
  readonly media: HttpHandler;
  readonly mediaPrefixes: readonly string[];
  /** The same for incoming files, to which the deadline of requests does not apply. */
  readonly uploads?: { readonly handle: HttpHandler; readonly prefixes: readonly string[] } | null;
  readonly app: FastifyInstance;
}

export interface HttpServerSettings extends HttpRoutes {
  readonly listener: Listener;
  readonly clock: Clock;
}

export interface HttpServer {
  readonly port: number;
  readonly server: Server;
  /** Accepts no new connections, gives running requests a second, then closes their connections. */
  close(): Promise<void>;
}

/** One server for everything. Throws `StartupError` if the port is taken or not allowed. */
export async function createHttpServer({ listener, clock, ...routes }: HttpServerSettings): Promise<HttpServer> {
  const { app } = routes;
  await app.ready();
  // A request without a body is complete with its head, so it skips stream events, which cost some microseconds.
  const server = createServer({ noDelay: true, optimizeEmptyRequests: true }, oneAtATime(routeRequests(routes, clock)));
  limitHttp1(server);
  await listener.open(server, (err) => app.log.error({ err }, "could not accept an HTTP connection"));
  let closing: Promise<void> | null = null;
  return {
    port: listener.port,
    server,
    close() {
      closing ??= new Promise<void>((resolve) => {
        const cut = clock.after(LAST_ANSWERS_MS, () => server.closeAllConnections());
        server.close(() => {
          cut.cancel();
          resolve();
        });
        server.closeIdleConnections();
      }).then(() => app.close());
      return closing;
    },
  };
}

/** The limits of each connection that speaks HTTP/1.1, with or without TLS. To be set before the server listens. `more`: other limits for this server. */
export function limitHttp1(server: Pick<NetServer, "on">, more: Partial<typeof HTTP1_LIMITS> = {}): void {
  Object.assign(server, HTTP1_LIMITS, more);
  server.on("clientError", refuse);
}

export function routeRequests({ media, mediaPrefixes, uploads = null, app }: HttpRoutes, clock: Clock): HttpHandler {
  return (request, response) => {
    if (uploads && isBelow(request, uploads.prefixes)) return uploads.handle(request, response);
    if (isBodyToCome(request)) endLate(request, response, clock);
    if (isBelow(request, mediaPrefixes)) media(request, response);
    else app.routing(request, response);
  };
}

function isBelow({ url = "" }: IncomingMessage, prefixes: readonly string[]): boolean {
  for (const prefix of prefixes) if (url.startsWith(prefix)) return true;
  return false;
}

/** Over HTTP/1 a request without a body is complete with its head, though `complete` is set a moment later and `close` is never emitted. */
function isBodyToCome({ httpVersionMajor, headers, complete }: IncomingMessage): boolean {
  return httpVersionMajor >= 2 ? !complete : "content-length" in headers || "transfer-encoding" in headers;
}

/** Node has one deadline for all requests of a server, and an upload needs none. */
function endLate(request: IncomingMessage, response: ServerResponse, clock: Clock): void {
  const { socket } = request;
  const deadline = clock.after(MAX_REQUEST_MS, () => {
    if (request.complete) return;
    // An HTTP/2 connection carries other requests, too.
    if (request.httpVersionMajor >= 2) response.destroy();
    else refuse(Object.assign(new Error("too slow"), { code: "ERR_HTTP_REQUEST_TIMEOUT" }), socket);
  });
  request.once("close", () => deadline.cancel());
}

/** A malformed or slow request: one response without details of the parser, then the end. */
function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  const status =
    error.code === "ERR_HTTP_REQUEST_TIMEOUT"
      ? "408 Request Timeout"
      : error.code === "HPE_HEADER_OVERFLOW"
        ? "431 Request Header Fields Too Large"
        : "400 Bad Request";
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy());
}
