import { join } from "node:path";
import type { Domains } from "../domains/index.ts";
import { closeSlowReaders, MEDIA_PREFIXES } from "../media/index.ts";
import type { OtherNodes } from "../platform/cluster/index.ts";
import { freeBytesOf, openRunFolder } from "../platform/data-folder.ts";
import { createApp } from "../platform/http/app.ts";
import { addArrivalRoute } from "../platform/http/arrived-request.ts";
import { limitConnections } from "../platform/http/connection-limits.ts";
import { addHealthRoutes } from "../platform/http/health-routes.ts";
import { createHttpServer, type HttpHandler, type HttpRoutes } from "../platform/http/http-server.ts";
import { createHttpsServer, type HttpsServer } from "../platform/http/https-server.ts";
import { serveMetrics } from "../platform/metrics/metrics-server.ts";
import type { Outbound } from "../platform/outbound/outbound.ts";
import type { Tracing } from "../platform/telemetry/tracing.ts";
import { UPLOAD_PREFIXES, UploadServer } from "../platform/uploads/upload-server.ts";
import { addApi, OPEN_PREFIXES } from "./api.ts";
import { processNameOf } from "./node-name.ts";
import { formerProcesses } from "./open-folder.ts";
import type { Opening } from "./opening.ts";
import { measureConnections, measureUploads, requestCounter } from "./weir-metrics.ts";

const NO_DASHBOARD = "the dashboard is not built: run `npm run build` and start again";

/** Where uploads and imports are received; null in a process that does neither. */
export async function openUploads(
  opening: Opening,
  domains: Domains,
  outbound: Outbound,
  others: OtherNodes | null = null,
): Promise<UploadServer | null> {
  const { config, clock, log, opened, dataFolder, serverFolder, metrics, store, proxies, share } = opening;
  if (!config.roles.includes("api") && !config.roles.includes("worker")) return null;
  const folder = join(dataFolder, "uploads");
  const freeBytes = () => freeBytesOf(dataFolder);
  const gate = domains.uploads;
  if (!share || share.number === 1) {
    const former = formerProcesses(serverFolder, share?.of ?? 1);
    if (former.length > 0) await gate.adopt(former.map((number) => processNameOf(serverFolder, number)));
  }
  const uploads = new UploadServer({ folder, freeBytes, gate, store, proxies, outbound, clock, log, others });
  await uploads.open();
  measureUploads(metrics, uploads);
  opened.defer(() => uploads.close());
  return uploads;
}

export interface HttpSettings {
  readonly domains: Domains;
  readonly tracing: Tracing;
  readonly media: { readonly handleHttp: HttpHandler } | null;
  readonly uploads: UploadServer | null;
  publicUrl(): string;
}

/** All that is answered over HTTP, on its ports. Returns whether the dashboard is built. */
export async function openHttp(opening: Opening, settings: HttpSettings): Promise<boolean> {
  const { config, clock, log, opened, readiness, metrics, warnings, listeners, proxies, store } = opening;
  const { domains, tracing, media, uploads, publicUrl } = settings;
  const observer = { tracing, requests: requestCounter(metrics) };
  const app = createApp({ log, proxies, observer, openPrefixes: OPEN_PREFIXES, ownOrigin: publicUrl });
  addHealthRoutes(app, readiness);
  addArrivalRoute(app, openRunFolder(opening.serverFolder), clock);
  const isApi = config.roles.includes("api");
  const hasDashboard =
    isApi && (await addApi(app, { domains, dataFolder: opening.dataFolder, mediaOrigin: store.addressOrigin ?? null }));
  if (isApi && !hasDashboard) {
    log.warn(NO_DASHBOARD);
    warnings.push(NO_DASHBOARD);
  }
  const routes = {
    media: media?.handleHttp ?? notHere,
    mediaPrefixes: MEDIA_PREFIXES,
    uploads: isApi && uploads ? { handle: uploads.handle, prefixes: UPLOAD_PREFIXES } : null,
    app,
  };
  const http = await createHttpServer({ ...routes, listener: listeners.http, clock });
  const open: { close(): Promise<void> }[] = [http];
  // Together, as each of them waits for its last answers.
  opened.defer(async () => void (await Promise.all(open.map((server) => server.close()))));
  opened.adopt(closeSlowReaders(http.server, clock), (timer) => timer.cancel());
  const https = await openHttps(opening, routes);
  if (https) open.push(https);
  const connections = limitConnections({
    servers: [http.server, ...(https ? [https.server] : [])],
    clock,
    proxies,
    inAll: opening.budget.http,
    perClient: config.connectionsPerClient,
  });
  opened.defer(() => connections.close());
  measureConnections(metrics, connections);
  if (listeners.metrics) {
    const served = await serveMetrics(metrics, listeners.metrics, log);
    opened.defer(() => served.close());
    if (served.problem) warnings.push(served.problem);
  }
  return hasDashboard;
}

async function openHttps({ clock, opened, listeners, tls }: Opening, routes: HttpRoutes): Promise<HttpsServer | null> {
  if (!tls || !listeners.https) return null;
  const https = await createHttpsServer({ ...routes, listener: listeners.https, tls, clock });
  opened.adopt(closeSlowReaders(https.server, clock, "secureConnection"), (timer) => timer.cancel());
  return https;
}

const notHere: HttpHandler = (_request, response) => {
  response.writeHead(404).end();
};
