import {
  createSecureServer,
  type Http2SecureServer,
  Http2ServerRequest,
  Http2ServerResponse,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { TLSSocket } from "node:tls";
import { type HttpServerSettings, limitHttp1, routeRequests } from "./http-server.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import type { TlsFiles } from "./tls-files.ts";

const LAST_ANSWERS_MS = 1_000;
/** A connection that carries nothing for this long is closed; waiting requests are answered sooner. */
const MAX_IDLE_MS = 65_000;
/** Concurrent requests per connection: a player makes about ten. */
const MAX_STREAMS = 128;

export interface HttpsServerSettings extends HttpServerSettings {
  readonly tls: TlsFiles;
}

export interface HttpsServer {
  readonly port: number;
  readonly server: Http2SecureServer;
  /** Accepts no new connections, gives running requests a second, then closes their connections. */
  close(): Promise<void>;
}

/**
 * The same handlers over TLS, with HTTP/2 or HTTP/1.1. Follows the certificate's renewal. Throws `StartupError` if the port is taken or not
 * allowed.
 */
export async function createHttpsServer({
  listener,
  tls,
  clock,
  ...routes
}: HttpsServerSettings): Promise<HttpsServer> {
  await routes.app.ready();
  const handle = routeRequests(routes, clock);
  const inTurn = oneAtATime(handle);
  const server = createSecureServer(
    {
      ...tls.current,
      allowHTTP1: true,
      settings: { maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize: 24 * 1024 },
      maxHeaderListPairs: 100,
      Http2ServerRequest: LikeHttp1Request,
      Http2ServerResponse: LikeHttp1Response,
    },
    (request, response) => {
      // Both kinds of request have everything that the handlers use.
      const answer = request.httpVersionMajor >= 2 ? handle : inTurn;
      (answer as unknown as Http2Handler)(request, response);
    },
  );
  limitHttp1(server);
  server.setTimeout(MAX_IDLE_MS);
  server.on("sessionError", () => {}); // The client ended the stream.
  server.on("tlsClientError", () => {});
  /** HTTP/2 sessions, and the sockets of HTTP/1.1. */
  const sessions = new Set<Pick<ServerHttp2Session, "close" | "destroy">>();
  const sockets = new Set<TLSSocket>();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("error", () => {});
    session.once("close", () => sessions.delete(session));
  });
  server.on("secureConnection", (socket: TLSSocket) => {
    if (socket.alpnProtocol === "h2") return;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await listener.open(server, (err) => routes.app.log.error({ err }, "could not accept an HTTPS connection"));
  const unwatch = tls.watch((identity) => server.setSecureContext(identity));
  let closing: Promise<void> | null = null;
  return {
    port: listener.port,
    server,
    close() {
      unwatch();
      closing ??= new Promise<void>((resolve) => {
        const cut = clock.after(LAST_ANSWERS_MS, () => {
          for (const connection of [...sessions, ...sockets]) connection.destroy();
        });
        server.close(() => {
          cut.cancel();
          resolve();
        });
        for (const session of sessions) session.close();
      });
      return closing;
    },
  };
}

type Http2Handler = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

/** Members that handlers of HTTP/1.1 expect and Node's own class lacks. */
class LikeHttp1Request extends Http2ServerRequest {
  constructor(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    options: ConstructorParameters<typeof Http2ServerRequest>[2],
    rawHeaders: readonly string[],
  ) {
    if (headers.host === undefined && headers[":authority"] !== undefined) headers.host = headers[":authority"];
    super(stream, headers, options, rawHeaders);
    // Also true if there is no body to wait for.
    const isComplete = () => stream.endAfterHeaders || stream.readableEnded || stream.destroyed;
    Object.defineProperty(this, "complete", { get: isComplete });
  }

  /** Repeated headers kept apart: HTTP/2 gives them in order. */
  get headersDistinct(): Record<string, string[]> {
    const distinct: Record<string, string[]> = {};
    for (let at = 0; at + 1 < this.rawHeaders.length; at += 2) {
      const name = (this.rawHeaders[at] ?? "").toLowerCase();
      distinct[name] = [...(distinct[name] ?? []), this.rawHeaders[at + 1] ?? ""];
    }
    return distinct;
  }
}

class LikeHttp1Response extends Http2ServerResponse<LikeHttp1Request> {
  constructor(stream: ServerHttp2Stream) {
    super(stream);
    Object.defineProperty(this, "destroyed", { get: () => stream.destroyed });
  }
}
