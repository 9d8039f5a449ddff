import type { Clock } from "../platform/clock.ts";
import { freeBytesOf } from "../platform/data-folder.ts";
import { TlsFiles } from "../platform/http/tls-files.ts";
import { TrustedProxies } from "../platform/http/trusted-proxies.ts";
import { type FileBudget, fileBudget, openFilesLimit } from "../platform/limits/open-files.ts";
import type { Log } from "../platform/log.ts";
import { Metrics } from "../platform/metrics/metrics.ts";
import { Readiness } from "../platform/readiness.ts";
import { StartupError } from "../platform/startup-error.ts";
import type { ObjectStore } from "../platform/storage/object-store.ts";
import { openObjectStore } from "../platform/storage/open-object-store.ts";
import type { Config } from "./config.ts";
import { type Listeners, listenersOf } from "./listeners.ts";
import { openShareOfFolder, openWholeFolder } from "./open-folder.ts";
import type { ProcessShare } from "./process-share.ts";

/** Below this a node should get no more work: a segment of every stream must still fit. */
const MIN_FREE_BYTES = 64 * 1024 * 1024;
/** Below this limit of open files, hardly a thousand viewers find room. */
const FEW_FILES = 8_192;

export interface WeirSettings {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborted when it is to be closed before it has started: the start ends with the signal's reason, and leaves nothing open. */
  readonly signal?: AbortSignal;
  /** Of one of several media processes. */
  readonly share?: ProcessShare;
  /** As people are shown it, where this process has only a share of it. */
  readonly shownConfig?: Config;
}

/** What every later step of a start is opened with. */
export interface Opening extends WeirSettings {
  /** Each step adds how its part closes. */
  readonly opened: AsyncDisposableStack;
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  /** For the banner: what works less than it could. */
  readonly warnings: string[];
  /** Of this process alone. */
  readonly dataFolder: string;
  /** Of the whole server: the same, unless it has several media processes. */
  readonly serverFolder: string;
  readonly listeners: Listeners;
  /** Null where TLS is left to a proxy. */
  readonly tls: TlsFiles | null;
  readonly proxies: TrustedProxies;
  readonly store: ObjectStore;
  readonly budget: FileBudget;
}

/** The first step: the data folder is this process's own, its ports are free, and the object store answers. Throws `StartupError`. */
export async function beginOpening(settings: WeirSettings, opened: AsyncDisposableStack): Promise<Opening> {
  const { config, clock, log, share } = settings;
  const readiness = new Readiness(clock);
  const metrics = new Metrics(share && { process: String(share.number) });
  const { serverFolder, dataFolder } = share
    ? await openShareOfFolder(config.dataDir, share, clock, opened)
    : await openWholeFolder(config, opened);
  const isFull = () => freeBytesOf(dataFolder) < MIN_FREE_BYTES;
  readiness.add("disk", () => (isFull() ? "almost full" : null), ["publish", "api"]);
  const listeners = listenersOf(config, share);
  if (!share) await checkListeners(config, listeners);
  const tls = await tlsOf(config, clock, log);
  const unfinished = share && share.number > 1 ? { unfinished: `unfinished-${share.number}` } : {};
  const store = await openObjectStore({ dataFolder: serverFolder, ...unfinished, config, clock, log });
  const proxies = new TrustedProxies(config.trustedProxies ?? []);
  const budget = budgetOfFiles(log);
  const folders = { dataFolder, serverFolder };
  return { ...settings, opened, readiness, metrics, warnings: [], ...folders, listeners, tls, proxies, store, budget };
}

/** The TCP ports are free. */
export async function checkListeners(config: Config, listeners: Listeners): Promise<void> {
  await listeners.http.check();
  if (config.roles.includes("media")) {
    await listeners.rtmp.check();
    await listeners.rtmps?.check();
  }
  await listeners.https?.check();
}

async function tlsOf({ tlsCert: cert, tlsKey: key }: Config, clock: Clock, log: Log): Promise<TlsFiles | null> {
  if (cert === null && key === null) return null;
  if (cert === null || key === null)
    throw new StartupError("WEIR_TLS_CERT and WEIR_TLS_KEY go together: set both, or none");
  return TlsFiles.open({ cert, key, clock, log });
}

function budgetOfFiles(log: Log): FileBudget {
  const openFiles = openFilesLimit();
  const budget = fileBudget(openFiles);
  if (openFiles < FEW_FILES)
    log.warn({ openFiles, connections: budget }, "the open file limit allows few connections: raise it (ulimit -n)");
  return budget;
}
