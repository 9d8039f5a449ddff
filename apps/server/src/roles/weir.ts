import { createDomains, type Domains, type IngestPorts, ingestAddresses } from "../domains/index.ts";
import { DOMAIN_SETTINGS } from "../domains/settings.ts";
import { Audiences, readCountries } from "../platform/audience/index.ts";
import { DatabaseClock } from "../platform/clock.ts";
import { type Confinement, UNCONFINED } from "../platform/confinement/confinement.ts";
import { deviceGroups } from "../platform/confinement/device-groups.ts";
import { findConfinement } from "../platform/confinement/find-confinement.ts";
import { diskOf, isAlmostFull, privateFolders } from "../platform/data-folder.ts";
import { watchEventLoop } from "../platform/event-loop.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics/metrics.ts";
import { valuesOf } from "../platform/setting-kinds.ts";
import type { BannerFacts } from "./banner.ts";
import { effectiveSettings } from "./config.ts";
import { calledPorts, calledPortsOfOthers } from "./listeners.ts";
import { type MediaRole, startMedia } from "./media.ts";
import { notifyMediaControl } from "./media-control.ts";
import { nodePlaceOf, processNameOf } from "./node-name.ts";
import { observePorts } from "./observe-ports.ts";
import { ObservedOutbound } from "./observed-outbound.ts";
import { openCluster } from "./open-cluster.ts";
import { openHttp, openUploads } from "./open-http.ts";
import { openRows } from "./open-rows.ts";
import { beginOpening, type Opening, type WeirSettings } from "./opening.ts";
import type { UdpPorts } from "./process-share.ts";
import { startTracing } from "./tracing.ts";
import { measureDomains, measureMedia, measureProcess, outboundCounter } from "./weir-metrics.ts";
import { startWorker } from "./worker.ts";

export interface Weir {
  readonly facts: BannerFacts;
  readonly metrics: Pick<Metrics, "text">;
  /** As they are open. */
  readonly udp: UdpPorts;
  /** No new publishers, and not ready. Present ones go on until `close`. */
  drain(): Promise<void>;
  /** Not ready at once; publishers closed with a reason, sessions ended, everything closed in the reverse order of its opening. */
  close(): Promise<void>;
}

/** A small buffer that is kept keeps the block that it was cut from: of 64 KiB, where Node decides. */
const SMALL_BUFFERS_BYTES = 8 * 1024;

/** One process of Weir with the roles that its configuration names. Throws `StartupError` for what its operator can mend. */
export async function startWeir(settings: WeirSettings): Promise<Weir> {
  await using opened = new AsyncDisposableStack();
  const { config, clock, log, signal, share } = settings;
  Buffer.poolSize = SMALL_BUFFERS_BYTES;
  const opening = await beginOpening(settings, opened);
  const { readiness, metrics, dataFolder, listeners, store } = opening;
  const eventLoop = opened.adopt(watchEventLoop(clock, log), (watch) => watch.close());
  measureProcess(metrics, eventLoop);

  signal?.throwIfAborted();
  const { database, schema } = await openRows(opening);

  signal?.throwIfAborted();
  const tracing = await startTracing(config, clock, log, metrics);
  opened.defer(() => tracing.close());

  /** Opened after the domains, which ask it. */
  const later: { media: MediaRole | null } = { media: null };
  const publicUrl = () => config.publicUrl ?? `http://localhost:${listeners.http.port}`;
  const confinement = await confineDecoders(opening);
  const audiences = new Audiences(config.geoipFile === null ? null : readCountries(config.geoipFile));
  const cluster = await openCluster(opening, database, () => domains);
  const shownConfig = settings.shownConfig ?? config;
  const otherPorts = () => [...calledPortsOfOthers(shownConfig, share), ...(cluster?.ports ?? [])];
  const own = () => ({ ports: [...calledPorts(listeners), ...otherPorts()], publicUrl: domains.publicUrl() });
  const outbound: ObservedOutbound = new ObservedOutbound(
    { clock, allowPrivate: config.allowPrivateUrls, pullNetworks: config.pullNetworks ?? [], own },
    outboundCounter(metrics),
    tracing,
  );
  const liveCores = () => later.media?.transcoding().usedCores ?? 0;
  const domains: Domains = createDomains({
    database,
    schema,
    audiences,
    clock,
    ...(clock instanceof DatabaseClock && { followClock: followClockOf(clock, log) }),
    log,
    settings: {
      ...valuesOf(DOMAIN_SETTINGS, config),
      roles: config.roles,
      reconnectWindowMs: config.reconnectWindowMs,
      webrtcPort: config.webrtcPort,
      // Objects of a store elsewhere take no room here.
      keepOriginals: () => config.keepOriginals && (store.freeBytes() === null || !isAlmostFull(diskOf(dataFolder))),
      effectiveSettings: effectiveSettings(shownConfig),
      nodeName: processNameOf(opening.serverFolder, share?.number ?? 1),
      nodePlace: nodePlaceOf(dataFolder),
      nodeAddress: cluster?.address ?? null,
      publicUrl,
      headroom: () => ({ disk: diskOf(dataFolder), ...(later.media && { transcoding: later.media.transcoding() }) }),
      isPublicUrlSet: config.publicUrl !== null,
      ingestPorts: () => ingestPorts(opening, later.media),
      srtPassphrase: config.srtPassphrase,
    },
    mediaControl: notifyMediaControl(database, clock),
    store,
    outbound,
  });
  opened.defer(() => domains.close());
  await domains.node.join();
  measureDomains(metrics, domains);
  opened.defer(() => domains.node.leave());

  signal?.throwIfAborted();
  let hasAccount = false;
  readiness.add("account", () => (hasAccount ? null : "being made"));
  if (config.roles.includes("media")) {
    const observed = { ...domains, ...observePorts(domains, metrics, tracing) };
    const others = cluster?.others ?? null;
    const media = await startMedia(opening, { confinement, database, domains: observed, audiences, outbound, others });
    opened.defer(() => media.close());
    measureMedia(metrics, media);
    later.media = media;
  }

  signal?.throwIfAborted();
  const uploads = await openUploads(opening, domains, outbound, cluster?.others);
  await cluster?.serve({ media: later.media, uploads });
  const hasDashboard = await openHttp(opening, { domains, tracing, publicUrl, media: later.media, uploads });
  if (config.roles.includes("worker") && uploads)
    await startWorker(opening, { domains, uploads, confinement, outbound, liveCores });

  signal?.throwIfAborted();
  // Last, so that no key is made that a failing start would never show.
  const newApiKey = await domains.ensureFirstAccount(config.apiKey?.reveal());
  hasAccount = true;

  const all = opened.move();
  const drain = async (): Promise<void> => {
    readiness.drain();
    await domains.node.drain();
  };
  let closing: Promise<void> | null = null;
  return {
    facts: factsOf(opening, later.media, { publicUrl: publicUrl(), hasDashboard, newApiKey }),
    udp: { srt: ingestPorts(opening, later.media).srt, stun: listeners.stun?.port ?? null },
    metrics,
    drain,
    close() {
      closing ??= closeAll({ log, drain, domains, media: later.media, all });
      return closing;
    },
  };
}

interface Closing extends Pick<Weir, "drain"> {
  readonly log: Log;
  readonly domains: Domains;
  readonly media: MediaRole | null;
  readonly all: AsyncDisposableStack;
}

async function closeAll({ log, drain, domains, media, all }: Closing): Promise<void> {
  const goOn = (error: unknown) => log.error({ err: error }, "draining failed partly; closing anyway");
  await drain().catch(goOn);
  const isHeld = await domains.node.hasSuccessor().catch(() => false);
  await media?.drain(isHeld).catch(goOn);
  // Receivers may keep webhooks waiting for seconds: HTTP and the media are closed meanwhile.
  domains.rest().catch(goOn);
  await all.disposeAsync();
}

/** Apart by more than this, operators are told. */
const APART_MS = 1_000;

/** Deadlines are by the database's clock, whatever this machine's says; its operator is told once of a difference. */
function followClockOf(clock: DatabaseClock, log: Log) {
  let isTold = false;
  return (databaseNow: number, askedAt: number) => {
    const aheadMs = clock.follow(databaseNow, askedAt);
    const isApart = Math.abs(aheadMs) > APART_MS;
    if (isApart && !isTold)
      log.warn({ aheadMs }, "this machine's clock is not that of the database, which counts: let NTP set both");
    isTold = isApart;
  };
}

function factsOf(
  opening: Opening,
  media: MediaRole | null,
  { publicUrl, hasDashboard, newApiKey }: Pick<BannerFacts, "hasDashboard" | "newApiKey"> & { publicUrl: string },
): BannerFacts {
  const { config, serverFolder: dataFolder, warnings } = opening;
  const url = config.roles.includes("api") ? publicUrl : null;
  const ingests = media ? ingestUrls(publicUrl, ingestPorts(opening, media)) : { rtmpUrl: null };
  return { url, hasDashboard, ...ingests, dataFolder, newApiKey, warnings };
}

function ingestUrls(publicUrl: string, ports: IngestPorts): Pick<BannerFacts, "rtmpUrl" | "rtmpsUrl" | "srtUrl"> {
  const { rtmp, rtmps = null, srt = null } = ingestAddresses(publicUrl, ports);
  return { rtmpUrl: rtmp, rtmpsUrl: rtmps, srtUrl: srt };
}

/** As they are open here; as set, where another process listens. */
function ingestPorts({ listeners: { rtmp, rtmps, srt }, share }: Opening, media: MediaRole | null): IngestPorts {
  const ownSrt = media?.isSrtOff ? null : (srt?.port ?? null);
  const isFirst = !share || share.number === 1;
  return { rtmp: rtmp.port, rtmps: rtmps?.port ?? null, srt: isFirst ? ownSrt : (share.udp?.srt ?? null) };
}

/** How this machine can hold the children that decode what others send; those of the API alone decode nothing. */
async function confineDecoders({ config, dataFolder, serverFolder, clock, log }: Opening): Promise<Confinement> {
  if (!config.roles.includes("media") && !config.roles.includes("worker")) return UNCONFINED;
  const groups = config.encoder === "x264" ? [] : deviceGroups();
  return findConfinement({ dataFolder, hidden: privateFolders(serverFolder), groups, clock, log });
}
