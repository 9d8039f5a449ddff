import { chmod } from "node:fs/promises";
import { join } from "node:path";
import type { Audiences } from "../platform/audience/index.ts";
import type { Clock } from "../platform/clock.ts";
import type { TrustedProxies } from "../platform/http/trusted-proxies.ts";
import type { Log } from "../platform/log.ts";
import type { ObjectStore } from "../platform/storage/object-store.ts";
import type {
  ClipWindow,
  EventSink,
  PlaybackGate,
  PublishGate,
  PublishGrant,
  StopReason,
  StoredContent,
} from "../ports/index.ts";
import { WindowKeeper } from "./clips/window-keeper.ts";
import { HlsDelivery } from "./delivery/hls/hls-delivery.ts";
import { WhepDelivery } from "./delivery/whep/whep-delivery.ts";
import type { WebrtcAddress } from "./delivery/whep/whep-session.ts";
import { Hub, type HubFigures } from "./hub/hub.ts";
import type { LadderResources } from "./ladder/live-ladder.ts";
import { type MediaHandler, MediaRoutes, nothingHere } from "./media-routes.ts";
import { type MediaMemory, openMediaMemory } from "./memory-pool.ts";
import type { Publication, PublisherHandle } from "./packet.ts";
import type { PageMemory } from "./page-memory.ts";
import { listSpool, recoverSpool } from "./recording/recover-spool.ts";
import { SessionRecorder } from "./recording/session-recorder.ts";
import { SpanSealer } from "./recording/span-sealer.ts";
import { SpoolDisk } from "./recording/spool-disk.ts";
import { spooledFacts } from "./recording/spooled-facts.ts";
import type { RestreamResources } from "./restream/session-targets.ts";
import { type OfferTaker, WebrtcEndpoint } from "./webrtc/webrtc-endpoint.ts";
import type { WebrtcPeers } from "./webrtc/webrtc-process.ts";

export { openClipMaker } from "./clips/open-clip-maker.ts";
export { closeSlowReaders } from "./delivery/answers/slow-readers.ts";
export { StoredFileExporter } from "./file-transcode/stored-file-exporter.ts";
export { StoredFileTranscoder } from "./file-transcode/stored-file-transcoder.ts";
export type { LadderResources } from "./ladder/live-ladder.ts";
export { TranscodeAdmission } from "./ladder/transcode-admission.ts";
export { MEDIA_PREFIXES } from "./media-routes.ts";
export { Restreaming } from "./restream/restreaming.ts";
export { openAssetPipeline } from "./vod/open-asset-pipeline.ts";

export interface MediaPlaneSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly publishGate: PublishGate;
  readonly playbackGate: PlaybackGate;
  readonly eventSink: EventSink;
  readonly store: ObjectStore;
  /** 32 bytes that viewer tokens are sealed with; the same on every node and after a restart. */
  readonly viewerSecret: Uint8Array;
  readonly proxies: TrustedProxies;
  /** As so many viewers one client is counted at most. */
  readonly viewersPerClient: number;
  readonly audiences: Audiences;
  /** Answers that may read from the object store at a time. */
  readonly maxReads: number;
  /** Spool of recordings: must survive the process, needs no backup. */
  readonly spoolDir: string;
  readonly reconnectWindowMs: number;
  readonly ladder: LadderResources;
  readonly restream: RestreamResources;
  /** This node as a transcoder: its id, and where it is reached. */
  readonly orchestrator: { readonly address: string; readonly url: string };
  /** Room where the spool lies; the object store knows its own. */
  readonly spoolFreeBytes: () => number;
}

export interface WebrtcService {
  readonly publish: OfferTaker;
  readonly peers: WebrtcPeers;
  readonly address: WebrtcAddress;
  /** UDP port of the STUN responder; null where there is none. */
  readonly stunPort: number | null;
}

export interface PlaneFigures {
  /** The viewers by WebRTC. */
  readonly webrtcViewers: number;
  readonly pages: Pick<PageMemory, "pagesInUse" | "pagesFree">;
  readonly requests: number;
  readonly waitingRequests: number;
  /** Chapters of recordings that the object store does not have yet. */
  readonly unsealedChapters: number;
}

/** Everything that moves media on one node, behind one door: what ingest servers publish into, and what answers viewers. */
export class MediaPlane {
  readonly memory: MediaMemory = openMediaMemory();
  readonly #settings: MediaPlaneSettings;
  readonly #hub: Hub;
  readonly #hls: HlsDelivery;
  readonly #routes: MediaRoutes;
  #whep: WhepDelivery | null = null;
  #webrtc: MediaHandler = nothingHere;
  readonly #disk: SpoolDisk;
  readonly #sealer: SpanSealer;
  readonly #windows: WindowKeeper;
  readonly #closing = new AbortController();

  constructor(settings: MediaPlaneSettings) {
    const { clock, log, publishGate, eventSink, store, spoolDir, spoolFreeBytes, reconnectWindowMs } = settings;
    this.#settings = settings;
    const disk = new SpoolDisk({ folder: spoolDir, freeBytes: spoolFreeBytes });
    const sealer = new SpanSealer({ clock, log, store, eventSink });
    this.#disk = disk;
    this.#sealer = sealer;
    this.#windows = new WindowKeeper({ clock, log, store });
    this.#hub = new Hub({
      clock,
      log,
      publishGate,
      eventSink,
      memory: this.memory,
      reconnectWindowMs,
      ladder: settings.ladder,
      restream: settings.restream,
      orchestrator: settings.orchestrator,
      recordingRoom: () => ({ spoolFreeBytes: disk.freeBytes(), storeFreeBytes: store.freeBytes() }),
      createRecorder: ({ projectId, streamId }, { sessionId }, part) =>
        new SessionRecorder({ clock, log, eventSink, disk, sealer, projectId, streamId, sessionId, part }),
    });
    this.#hls = new HlsDelivery({ ...settings, live: this.#hub, children: settings.ladder.children });
    const hls: MediaHandler = (req, res) => this.#hls.handle(req, res);
    this.#routes = new MediaRoutes({
      "/hls/": hls,
      "/asset/hls/": hls,
      "/recordings/": (req, res) => this.#hls.handleRecording(req, res),
      "/webrtc/": (req, res) => this.#webrtc(req, res),
    });
  }

  /** Find what an earlier run left in the spool, and go on with it in the background. To be awaited before anything is published. */
  async start(): Promise<void> {
    const { clock, log, eventSink } = this.#settings;
    await this.#disk.makeFolder(this.#disk.folder);
    await chmod(this.#disk.folder, 0o700);
    const left = await listSpool(this.#disk.folder);
    // Before anybody judges what became of them; reading them takes longer.
    for (const fact of spooledFacts(left, clock.now())) eventSink.report(fact);
    void recoverSpool(left, { clock, log, eventSink, sealer: this.#sealer, signal: this.#closing.signal });
  }

  /** Answer WebRTC offers: to publish by `publish`, to watch from here. */
  serveWebrtc({ publish, peers, address, stunPort }: WebrtcService): void {
    const { clock, log, proxies, ladder: transcoding } = this.#settings;
    const { admissions } = this.#hls;
    const watch = new WhepDelivery({
      clock,
      log,
      proxies,
      admissions,
      sessions: this.#hub,
      peers,
      address,
      transcoding,
    });
    const endpoint = new WebrtcEndpoint({
      clock,
      log,
      proxies,
      prepare: () => peers.prepare(),
      watch,
      publish,
      stunPort,
    });
    this.#whep = watch;
    this.#webrtc = (req, res) => endpoint.handle(req, res);
  }

  open(grant: PublishGrant, publisher: PublisherHandle): Publication {
    return this.#hub.open(grant, publisher);
  }

  get publisherCount(): number {
    return this.#hub.publisherCount;
  }

  get figures(): HubFigures & PlaneFigures {
    return {
      ...this.#hub.figures,
      requests: this.#routes.requests,
      webrtcViewers: this.#whep?.viewerCount ?? 0,
      waitingRequests: this.#hls.waiting,
      unsealedChapters: this.#sealer.waiting,
      pages: this.memory.parts,
    };
  }

  /** Answers everything under `MEDIA_PREFIXES`. */
  readonly handleHttp: MediaHandler = (req, res) => this.#routes.handle(req, res);

  /** Kept answers of the playback gate are asked for again: of one playback id, or of all. */
  accessChanged(playbackId: string | "all"): void {
    this.#hls.accessChanged(playbackId);
    this.#whep?.accessChanged(playbackId);
  }

  /** The multistream targets of a stream have changed, or those of any may have. */
  targetsChanged(streamId: string | "all"): void {
    this.#hub.targetsChanged(streamId);
  }

  /** Tell the playback gate how large a recording's MP4 is. */
  measureRecording(content: StoredContent): void {
    this.#hls.measureRecording(content);
  }

  /** Put what is recorded of a running session up to a program date-time into the object store, once it is complete. */
  sealRecording(sessionId: string, untilMs: number): void {
    void this.#hub.session(sessionId)?.sealUntil(untilMs);
  }

  /** Keep what a running session shows now for a clip. */
  keepWindow(window: ClipWindow): void {
    const session = this.#hub.session(window.sessionId);
    if (session) this.#windows.keep(session.pipeline.renditions, window);
  }

  /** Close a stream's publisher and end its session on this node. */
  stop(streamId: string, why: StopReason): void {
    this.#hub.stop(streamId, why);
    this.accessChanged("all");
  }

  /** End every session cleanly and seal its recording, unless the object store is away. */
  async drain(): Promise<void> {
    await this.#hub.drain();
    await this.#sealer.settled();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#whep?.close();
    this.#hls.close();
    await this.#hub.close();
    await this.#sealer.close();
  }
}

export function spoolDirOf(dataDir: string): string {
  return join(dataDir, "spool");
}
