import { findPortSharing } from "../../platform/listener.ts";
import { type MetricsServer, serveMetrics } from "../../platform/metrics/metrics-server.ts";
import { startEmbeddedPostgres } from "../../platform/postgres/embedded-postgres.ts";
import type { BannerFacts } from "../banner.ts";
import { listenersOf } from "../listeners.ts";
import { openWholeFolder } from "../open-folder.ts";
import { checkListeners, type WeirSettings } from "../opening.ts";
import type { ProcessShare, UdpPorts } from "../process-share.ts";
import type { Weir } from "../weir.ts";
import { MediaProcess } from "./media-process.ts";
import { mergeMetrics } from "./merge-metrics.ts";

/** Of the whole way out, also where a process hangs: less than whoever stops a server waits. */
const STOP_WITHIN_MS = 8_500;
/** A process of Weir takes at most 19; a backup and a person have room. */
const connectionsFor = (processes: number): number => 20 * (processes + 1);

/**
 * A server of several media processes on one machine. This process, their parent, has the data folder's lock, the embedded database and the port for
 * metrics, and replaces a process that dies; it carries no media. Throws `StartupError` for what its operator can mend.
 */
export async function startServerProcesses(settings: WeirSettings): Promise<Pick<Weir, "facts" | "close">> {
  await using opened = new AsyncDisposableStack();
  const { config, clock, log, signal } = settings;
  const { dataFolder } = await openWholeFolder(config, opened);
  const listeners = listenersOf(config);
  await checkListeners(config, listeners);
  const ports = {
    httpPort: await listeners.http.choose(),
    httpsPort: (await listeners.https?.choose()) ?? config.httpsPort,
    rtmpPort: await listeners.rtmp.choose(),
    rtmpsPort: (await listeners.rtmps?.choose()) ?? config.rtmpsPort,
  };
  const of = config.mediaProcesses;
  const maxConnections = connectionsFor(of);
  const postgres = config.databaseUrl ? null : await startEmbeddedPostgres({ dataFolder, maxConnections, clock, log });
  opened.defer(async () => postgres?.close());
  const database = postgres?.address ?? null;
  const sharing = await findPortSharing();
  let udp: UdpPorts | null = null;
  const shareOf = (number: number): ProcessShare => ({ number, of, ports, sharing, database, udp });
  const processes = Array.from(
    { length: of },
    (_, index) => new MediaProcess({ clock, log, share: () => shareOf(index + 1) }),
  );
  let closingSince: number | null = null;
  const stopWithinMs = () => STOP_WITHIN_MS - (closingSince === null ? 0 : clock.monotonic() - closingSince);
  opened.defer(async () => void (await Promise.all(processes.map((one) => one.stop(stopWithinMs())))));

  const [first, ...others] = processes;
  if (!first) throw new Error("a server has at least one media process");
  // It makes the tables and the account.
  const ready = await unlessAborted(() => first.start(), signal);
  udp = ready.udp;
  const rest = await unlessAborted(() => Promise.all(others.map((one) => one.startOrReplace())), signal);
  const all = [ready, ...rest.filter((one) => one !== null)];
  const metrics = await openMetrics(settings, processes);
  opened.defer(async () => metrics?.close());

  const closers = opened.move();
  let closing: Promise<void> | null = null;
  return {
    facts: factsOf(
      all.map(({ facts }) => facts),
      metrics?.problem ?? null,
    ),
    close() {
      closingSince ??= clock.monotonic();
      closing ??= Promise.all(processes.map((one) => one.drain())).then(() => closers.disposeAsync());
      return closing;
    },
  };
}

/** Rejects with the signal's reason once it is aborted: a process that hangs holds up no way out. */
async function unlessAborted<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  signal?.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const leave = () => reject(signal?.reason);
  signal?.addEventListener("abort", leave, { once: true });
  try {
    return await Promise.race([work(), promise]);
  } finally {
    signal?.removeEventListener("abort", leave);
  }
}

/** One server for the person who started it. */
function factsOf([first, ...others]: readonly BannerFacts[], problem: string | null): BannerFacts {
  if (!first) throw new Error("no process is ready");
  const warnings = [first, ...others].flatMap((facts) => facts.warnings);
  return {
    ...first,
    processes: 1 + others.length,
    warnings: [...new Set([...warnings, ...(problem ? [problem] : [])])],
  };
}

async function openMetrics(
  { config, log }: WeirSettings,
  processes: readonly MediaProcess[],
): Promise<MetricsServer | null> {
  const { metrics: listener } = listenersOf(config);
  if (!listener) return null;
  const text = async () => {
    const texts = await Promise.all(processes.map((one) => one.metrics()));
    return mergeMetrics(texts.filter((one) => one !== null));
  };
  return serveMetrics({ text, contentType: "text/plain; version=0.0.4; charset=utf-8" }, listener, log);
}
