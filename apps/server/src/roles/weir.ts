import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createDomains, type Schema } from "../domains/index.ts";
import {
  closeSlowReaders,
  MEDIA_PREFIXES,
  openAssetPipeline,
  openClipMaker,
  StoredFileExporter,
  StoredFileTranscoder,
} from "../media/index.ts";
import { Audiences, readCountries } from "../platform/audience/index.ts";
import type { Clock } from "../platform/clock.ts";
import { type Config, effectiveSettings } from "../platform/config.ts";
import { type Confinement, UNCONFINED } from "../platform/confinement/confinement.ts";
import { deviceGroups } from "../platform/confinement/device-groups.ts";
import { findConfinement } from "../platform/confinement/find-confinement.ts";
import { diskOf, freeBytesOf, isAlmostFull, openDataFolder, privateFolders } from "../platform/data-folder.ts";
import { openDatabase } from "../platform/database.ts";
import { watchEventLoop } from "../platform/event-loop.ts";
import { takeLock } from "../platform/folder-lock.ts";
import { createApp } from "../platform/http/app.ts";
import { limitConnections } from "../platform/http/connection-limits.ts";
import { addHealthRoutes } from "../platform/http/health-routes.ts";
import { createHttpServer, type HttpHandler } from "../platform/http/http-server.ts";
import { createHttpsServer } from "../platform/http/https-server.ts";
import { TlsFiles } from "../platform/http/tls-files.ts";
import { TrustedProxies } from "../platform/http/trusted-proxies.ts";
import { fileBudget, openFilesLimit } from "../platform/limits/open-files.ts";
import type { Log } from "../platform/log.ts";
import { Metrics } from "../platform/metrics/metrics.ts";
import { serveMetrics } from "../platform/metrics/metrics-server.ts";
import { migrate } from "../platform/migrate.ts";
import { startEmbeddedPostgres } from "../platform/postgres/embedded-postgres.ts";
import { Readiness } from "../platform/readiness.ts";
import { StartupError } from "../platform/startup-error.ts";
import { openObjectStore } from "../platform/storage/open-object-store.ts";
import { UPLOAD_PREFIXES, UploadServer } from "../platform/uploads/upload-server.ts";
import { addApi, OPEN_PREFIXES } from "./api.ts";
import type { BannerFacts } from "./banner.ts";
import { listenersOf, tcpPorts } from "./listeners.ts";
import { startMedia } from "./media.ts";
import { NotifyMediaControl } from "./media-control.ts";
import { nodeNameOf } from "./node-name.ts";
import { observePorts } from "./observe-ports.ts";
import { ObservedOutbound } from "./observed-outbound.ts";
import { startTracing } from "./tracing.ts";
import {
  measureConnections,
  measureDatabase,
  measureDomains,
  measureMedia,
  measureProcess,
  measureUploads,
  outboundCounter,
  requestCounter,
} from "./weir-metrics.ts";
import { noAssetProcessor, noClipMaker, noFileExporter, noFileTranscoder, startWorker } from "./worker.ts";

const MIGRATIONS = fileURLToPath(new URL("../../migrations", import.meta.url));
/** Below this a node should get no more work: a segment of every stream must still fit. */
const MIN_FREE_BYTES = 64 * 1024 * 1024;
const NO_DASHBOARD = "the dashboard is not built: run `npm run build` and start again";
/** Below this limit of open files, hardly a thousand viewers find room. */
const FEW_FILES = 8_192;

export interface Weir {
  readonly facts: BannerFacts;
  /** Not ready at once; publishers closed with a reason, sessions ended, everything closed in the reverse order of its opening. */
  close(): Promise<void>;
}

export interface WeirSettings {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborted when it is to be closed before it has started: the start ends with the signal's reason, and leaves nothing open. */
  readonly signal?: AbortSignal;
}

/** One process of Weir with the roles that its configuration names. Throws `StartupError` for what its operator can mend. */
export async function startWeir({ config, clock, log, signal }: WeirSettings): Promise<Weir> {
  await using opened = new AsyncDisposableStack();
  const readiness = new Readiness(clock);
  const eventLoop = opened.adopt(watchEventLoop(clock, log), (watch) => watch.close());
  const metrics = new Metrics();
  measureProcess(metrics, eventLoop);

  const dataFolder = openDataFolder(config.dataDir);
  readiness.add("disk", () => (freeBytesOf(dataFolder) < MIN_FREE_BYTES ? "almost full" : null));
  opened.adopt(await lockDataFolder(dataFolder), (lock) => lock.release());
  const listeners = listenersOf(config);
  await listeners.http.check();
  if (config.roles.includes("media")) await listeners.rtmp.check();
  const tls = await tlsOf(config, clock, log);
  await listeners.https?.check();
  const store = await openObjectStore({ dataFolder, config, clock, log });

  signal?.throwIfAborted();
  const postgres = config.databaseUrl ? null : await startEmbeddedPostgres({ dataFolder, clock, log });
  if (postgres) {
    opened.defer(() => postgres.close());
    readiness.add("postgres", () => (postgres.isRunning() ? null : "restarting"));
  }
  const connection = config.databaseUrl ?? postgres?.address;
  if (!connection) throw new Error("no database: neither an address nor an embedded one");
  const database = await openDatabase<Schema>(connection, log, clock, signal ? { signal } : {});
  opened.defer(() => database.close());
  readiness.add("database", () => database.ping().then(() => null));
  measureDatabase(metrics, database);
  await migrate(database.unhurried, MIGRATIONS, log);

  signal?.throwIfAborted();
  const tracing = await startTracing(config, clock, log, metrics);
  opened.defer(() => tracing.close());

  const publicUrl = () => config.publicUrl ?? `http://localhost:${listeners.http.port}`;
  const rtmpUrl = () => `rtmp://${new URL(publicUrl()).hostname}:${listeners.rtmp.port}/live`;
  const confinement = await confineDecoders(config, dataFolder, clock, log);
  const assetProcessor = config.roles.includes("worker")
    ? await openAssetPipeline({
        ...{ clock, log, store, dataFolder, confinement },
        liveCores: () => media?.transcoding().usedCores ?? 0,
      })
    : noAssetProcessor;
  const clipMaker = config.roles.includes("worker")
    ? await openClipMaker({ clock, store, dataFolder, confinement })
    : noClipMaker;
  const audiences = new Audiences(config.geoipFile === null ? null : readCountries(config.geoipFile));
  const outbound: ObservedOutbound = new ObservedOutbound(
    {
      clock,
      allowPrivate: config.allowPrivateUrls,
      own: () => ({
        ports: tcpPorts(listeners),
        publicUrl: domains.publicUrl(),
      }),
    },
    outboundCounter(metrics),
    tracing,
  );
  const domains = createDomains({
    database,
    audiences,
    clock,
    log,
    settings: {
      ...config,
      // Objects of a store elsewhere take no room here.
      keepOriginals: () => config.keepOriginals && (store.freeBytes() === null || !isAlmostFull(diskOf(dataFolder))),
      effectiveSettings: effectiveSettings(config),
      nodeName: nodeNameOf(dataFolder),
      publicUrl,
      headroom: () => ({ disk: diskOf(dataFolder), ...(media && { transcoding: media.transcoding() }) }),
      isPublicUrlSet: config.publicUrl !== null,
      rtmpPort: () => listeners.rtmp.port,
    },
    mediaControl: new NotifyMediaControl(database),
    store,
    assetProcessor,
    clipMaker,
    fileTranscoder: config.roles.includes("worker")
      ? new StoredFileTranscoder({
          ...{ clock, store, outbound, processor: assetProcessor },
          freeBytes: () => freeBytesOf(dataFolder),
        })
      : noFileTranscoder,
    fileExporter: config.roles.includes("worker") ? new StoredFileExporter({ clock, store, outbound }) : noFileExporter,
    importFile: (request) =>
      uploads?.import(request) ?? Promise.reject(new Error("this process has no spool of uploads")),
    outbound,
  });
  opened.defer(() => domains.close());
  await domains.node.join();
  measureDomains(metrics, domains);
  opened.defer(() => domains.node.leave());

  signal?.throwIfAborted();
  const openFiles = openFilesLimit();
  const budget = fileBudget(openFiles);
  if (openFiles < FEW_FILES)
    log.warn({ openFiles, connections: budget }, "the open file limit allows few connections: raise it (ulimit -n)");

  /** For the banner: what works less than it could. */
  const warnings: string[] = [];
  let hasAccount = false;
  readiness.add("account", () => (hasAccount ? null : "being made"));
  const proxies = new TrustedProxies(config.trustedProxies ?? []);
  const media = config.roles.includes("media")
    ? await startMedia({
        config,
        listeners,
        confinement,
        dataFolder,
        store,
        database,
        domains: { ...domains, ...observePorts(domains, metrics, tracing) },
        clock,
        log,
        proxies,
        audiences,
        outbound,
        publicUrl: domains.publicUrl,
        maxRtmpConnections: budget.rtmp,
        maxStoredReads: budget.storedReads,
      })
    : null;
  if (media) measureMedia(metrics, media);
  if (media) opened.defer(() => media.close());

  signal?.throwIfAborted();
  const observer = { tracing, requests: requestCounter(metrics) };
  const app = createApp({ log, proxies, observer, openPrefixes: OPEN_PREFIXES, ownOrigin: publicUrl });
  addHealthRoutes(app, readiness);
  const isApi = config.roles.includes("api");
  const hasDashboard = isApi && (await addApi(app, { domains, dataFolder, mediaOrigin: store.addressOrigin ?? null }));
  if (isApi && !hasDashboard) {
    log.warn(NO_DASHBOARD);
    warnings.push(NO_DASHBOARD);
  }
  const uploads =
    isApi || config.roles.includes("worker")
      ? new UploadServer({
          folder: join(dataFolder, "uploads"),
          freeBytes: () => freeBytesOf(dataFolder),
          gate: domains.uploads,
          store,
          proxies,
          outbound,
          clock,
          log,
        })
      : null;
  await uploads?.open();
  if (uploads) measureUploads(metrics, uploads);
  opened.defer(() => uploads?.close());
  const routes = {
    media: media?.handleHttp ?? notHere,
    mediaPrefixes: MEDIA_PREFIXES,
    uploads: isApi && uploads ? { handle: uploads.handle, prefixes: UPLOAD_PREFIXES } : null,
    app,
  };
  const http = await createHttpServer({ ...routes, listener: listeners.http, clock });
  opened.defer(() => http.close());
  const https =
    tls && listeners.https && (await createHttpsServer({ ...routes, listener: listeners.https, tls, clock }));
  if (https) opened.defer(() => https.close());
  const connections = limitConnections({
    servers: [http.server, ...(https ? [https.server] : [])],
    clock,
    proxies,
    inAll: budget.http,
    perClient: config.connectionsPerClient,
  });
  opened.defer(() => connections.close());
  measureConnections(metrics, connections);
  opened.adopt(closeSlowReaders(http.server, clock), (timer) => timer.cancel());
  if (https) opened.adopt(closeSlowReaders(https.server, clock, "secureConnection"), (timer) => timer.cancel());
  if (listeners.metrics) {
    const served = await serveMetrics(metrics, listeners.metrics, log);
    opened.defer(() => served.close());
    if (served.problem) warnings.push(served.problem);
  }
  if (config.roles.includes("worker")) startWorker(domains);

  signal?.throwIfAborted();
  // Last, so that no key is made that a failing start would never show.
  const newApiKey = await domains.ensureFirstAccount(config.apiKey?.reveal());
  hasAccount = true;

  const all = opened.move();
  let closing: Promise<void> | null = null;
  return {
    facts: {
      url: isApi ? publicUrl() : null,
      hasDashboard,
      rtmpUrl: media ? rtmpUrl() : null,
      dataFolder,
      newApiKey,
      warnings,
    },
    close() {
      readiness.drain();
      closing ??= (async () => {
        const goOn = (error: unknown) => log.error({ err: error }, "draining failed partly; closing anyway");
        await domains.node.drain().catch(goOn);
        await media?.drain().catch(goOn);
        await all.disposeAsync();
      })();
      return closing;
    },
  };
}

/** How this machine can hold the children that decode what others send; those of the API alone decode nothing. */
async function confineDecoders(config: Config, dataFolder: string, clock: Clock, log: Log): Promise<Confinement> {
  if (!config.roles.includes("media") && !config.roles.includes("worker")) return UNCONFINED;
  const groups = config.encoder === "x264" ? [] : deviceGroups();
  return findConfinement({ dataFolder, hidden: privateFolders(dataFolder), groups, clock, log });
}

async function lockDataFolder(dataFolder: string) {
  const lock = await takeLock(join(dataFolder, "weir.lock"));
  if (lock) return lock;
  throw new StartupError(
    `another Weir runs on the data folder ${dataFolder}: stop it, or set WEIR_DATA_DIR to another folder`,
  );
}

/** Null where TLS is left to a proxy. */
async function tlsOf({ tlsCert: cert, tlsKey: key }: Config, clock: Clock, log: Log): Promise<TlsFiles | null> {
  if (cert === null && key === null) return null;
  if (cert === null || key === null)
    throw new StartupError("WEIR_TLS_CERT and WEIR_TLS_KEY go together: set both, or none");
  return TlsFiles.open({ cert, key, clock, log });
}

const notHere: HttpHandler = (_request, response) => {
  response.writeHead(404).end();
};
