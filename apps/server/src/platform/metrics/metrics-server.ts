import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { listen } from "../listen.ts";
import { explainListen } from "../listen-error.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "./metrics.ts";

export interface MetricsServer {
  /** Null if the port could not be opened. */
  readonly port: number | null;
  /** Why it could not; null if it could. */
  readonly problem: string | null;
  close(): Promise<void>;
}

/** Serves `/metrics` on a port of its own. A taken port is only a warning, because a server without metrics is better than none. */
export async function serveMetrics(metrics: Metrics, host: string, port: number, log: Log): Promise<MetricsServer> {
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
  const problem = await listen(server, { host, port }, (err) =>
    log.error({ err }, "could not accept a metrics connection"),
  ).then(
    () => null,
    (error: NodeJS.ErrnoException) =>
      `no metrics: ${explainListen(error, "metrics", host, port, "WEIR_METRICS_PORT").message}`,
  );
  if (problem) {
    log.warn(problem);
    return { port: null, problem, close: async () => {} };
  }
  const bound = (server.address() as AddressInfo).port;
  if (port === 0) log.info({ host, port: bound }, "metrics are served on a free port");
  let closing: Promise<void> | null = null;
  return {
    port: bound,
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
