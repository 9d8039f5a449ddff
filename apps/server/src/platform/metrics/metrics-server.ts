import { createServer } from "node:http";
import type { Listener } from "../listener.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "./metrics.ts";

export interface MetricsServer {
  /** Why the port could not be opened; null if it could. */
  readonly problem: string | null;
  close(): Promise<void>;
}

/** Serves `/metrics` on a port of its own. A taken port is only a warning, because a server without metrics is better than none. */
export async function serveMetrics(
  metrics: Pick<Metrics, "text" | "contentType">,
  listener: Listener,
  log: Log,
): Promise<MetricsServer> {
  const server = createServer({ maxHeaderSize: 8 * 1024, headersTimeout: 5_000, requestTimeout: 5_000 });
  server.maxConnections = 50;
  server.on("request", (request, response) => {
    if (request.url !== "/metrics") return void response.writeHead(404).end();
    if (request.method !== "GET") return void response.writeHead(405, { allow: "GET" }).end();
    metrics.text().then(
      (text) => response.writeHead(200, { "content-type": metrics.contentType }).end(text),
      (error: unknown) => {
        log.error({ err: error }, "could not collect metrics");
        response.writeHead(500).end();
      },
    );
  });
  const { host, port } = listener;
  const problem = await listener
    .open(server, (err) => log.error({ err }, "could not accept a metrics connection"))
    .then(
      () => null,
      (error: Error) => `no metrics: ${error.message}`,
    );
  if (problem) {
    log.warn(problem);
    return { problem, close: async () => {} };
  }
  if (port === 0) log.info({ host, port: listener.port }, "metrics are served on a free port");
  let closing: Promise<void> | null = null;
  return {
    problem: null,
    close() {
      closing ??= new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      return closing;
    },
  };
}
