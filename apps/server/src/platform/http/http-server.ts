import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import type { Clock } from "../clock.ts";
import { explainListen } from "../listen-error.ts";
import { oneAtATime } from "./one-at-a-time.ts";

/** How long a running request may go on when the server closes. */
const LAST_ANSWERS_MS = 1_000;
/** For a request with a body, from its head to its last byte. */
const MAX_REQUEST_MS = 30_000;

export type HttpHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** Who answers what, over any version of HTTP. */
export interface HttpRoutes {
  /** Answers what begins with one of `mediaPrefixes`, without a framework in between. */
  readonly media: HttpHandler;
  readonly mediaPrefixes: readonly string[];
  /** The same for files that come in, which may take any time: the deadline of requests is not for them. */
  readonly uploads?: { readonly handle: HttpHandler; readonly prefixes: readonly string[] } | null;
  readonly app: FastifyInstance;
}

export interface HttpServerSettings extends HttpRoutes {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly clock: Clock;
}

export interface HttpServer {
  readonly port: number;
  readonly server: Server;
  /** Takes no new connections, lets running requests end for a second, then cuts them. */
  close(): Promise<void>;
}

/** One listener for everything. Throws `StartupError` where the port is taken or not allowed. */
export async function createHttpServer({ host, port, clock, ...routes }: HttpServerSettings): Promise<HttpServer> {
  const { app } = routes;
  await app.ready();
  const server = createServer(
    {
      // The longest access key (8 KiB) in a header, and sealed in the address or in an edge's question about it (11 KiB).
      maxHeaderSize: 24 * 1024,
      // Deadlines for a whole head and, below, a whole request, not for a read: a byte a second does not get past them.
      headersTimeout: 10_000,
      requestTimeout: 0,
      connectionsCheckingInterval: 2_000,
      // Longer than the 60 s of common load balancers, who must be the first to close.
      keepAliveTimeout: 65_000,
      noDelay: true,
      // A request without a body is complete with its head: no stream events of it, which cost some microseconds.
      optimizeEmptyRequests: true,
    },
    oneAtATime(routeRequests(routes, clock)),
  );
  server.maxHeadersCount = 100;
  server.on("clientError", refuse);
  await listen(server, host, port);
  let closing: Promise<void> | null = null;
  return {
    port: (server.address() as AddressInfo).port,
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

export function routeRequests({ media, mediaPrefixes, uploads = null, app }: HttpRoutes, clock: Clock): HttpHandler {
  return (request, response) => {
    const isBelow = (prefix: string) => request.url?.startsWith(prefix) ?? false;
    if (uploads?.prefixes.some(isBelow)) return uploads.handle(request, response);
    if (isBodyToCome(request)) endLate(request, response, clock);
    if (mediaPrefixes.some(isBelow)) media(request, response);
    else app.routing(request, response);
  };
}

/** Over HTTP/1 a request without a body is complete with its head, though `complete` is set a moment later, and never emits `close`. */
function isBodyToCome({ httpVersionMajor, headers, complete }: IncomingMessage): boolean {
  return httpVersionMajor >= 2 ? !complete : "content-length" in headers || "transfer-encoding" in headers;
}

/** Node has one deadline for all requests of a server, and an upload needs none. */
function endLate(request: IncomingMessage, response: ServerResponse, clock: Clock): void {
  const { socket } = request;
  const deadline = clock.after(MAX_REQUEST_MS, () => {
    if (request.complete) return;
    // Over HTTP/2 the connection has other requests too.
    if (request.httpVersionMajor >= 2) response.destroy();
    else refuse(Object.assign(new Error("too slow"), { code: "ERR_HTTP_REQUEST_TIMEOUT" }), socket);
  });
  request.once("close", () => deadline.cancel());
}

/** A request that is no HTTP, or came too slowly: one answer without a word about the parser, and the end. */
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

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(explainListen(error, "HTTP", host, port, "WEIR_HTTP_PORT")),
    );
    server.listen({ host, port, backlog: 1024 }, () => resolve());
  });
}
