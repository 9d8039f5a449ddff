import { mkdir } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import type { Clock } from "../platform/clock.ts";
import type { TrustedProxies } from "../platform/http/trusted-proxies.ts";
import type { Log } from "../platform/log.ts";
import type { ObjectStore } from "../platform/storage/object-store.ts";
import type { EventSink, PlaybackGate, PublishGate, PublishGrant, StopReason } from "../ports.ts";
import { HlsDelivery } from "./delivery/hls/hls-delivery.ts";
import { Hub, type HubFigures } from "./hub/hub.ts";
import type { LadderResources } from "./ladder/live-ladder.ts";
import { type MediaMemory, openMediaMemory } from "./memory-pool.ts";
import type { Publication, PublisherHandle } from "./packet.ts";
import { recoverSpool, spoolFolder } from "./recording/recover-spool.ts";
import { SessionRecorder } from "./recording/session-recorder.ts";

export { closeSlowReaders } from "./delivery/slow-readers.ts";
export type { LadderResources } from "./ladder/live-ladder.ts";
export { TranscodeAdmission } from "./ladder/transcode-admission.ts";

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
  /** Spool of recordings: must survive the process, needs no backup. */
  readonly spoolDir: string;
  readonly reconnectWindowMs: number;
  readonly ladder: LadderResources;
  /** This node as a transcoder: its id, and where it is reached. */
  readonly orchestrator: { readonly address: string; readonly url: string };
  /** Room where the spool and the recordings lie. */
  readonly diskFreeBytes: () => number;
}

/** Everything that moves media on one node, behind one door: what ingest servers publish into, and what answers viewers. */
export class MediaPlane {
  readonly memory: MediaMemory = openMediaMemory();
  readonly #settings: MediaPlaneSettings;
  readonly #hub: Hub;
  readonly #hls: HlsDelivery;
  #requests = 0;

  constructor(settings: MediaPlaneSettings) {
    const { clock, log, publishGate, eventSink, store, spoolDir, reconnectWindowMs } = settings;
    this.#settings = settings;
    this.#hub = new Hub({
      clock,
      log,
      publishGate,
      eventSink,
      memory: this.memory,
      reconnectWindowMs,
      ladder: settings.ladder,
      orchestrator: settings.orchestrator,
      diskFreeBytes: settings.diskFreeBytes,
      createRecorder: ({ projectId, streamId }, { sessionId }) =>
        new SessionRecorder({
          clock,
          log,
          store,
          eventSink,
          folder: spoolFolder(spoolDir, projectId, sessionId),
          projectId,
          streamId,
          sessionId,
        }),
    });
    this.#hls = new HlsDelivery({ ...settings, hub: this.#hub });
  }

  /** Seal what an earlier run left in the spool; to be awaited before anything is published. */
  async start(): Promise<void> {
    const { clock, log, store, eventSink, spoolDir } = this.#settings;
    await mkdir(spoolDir, { recursive: true });
    await recoverSpool({ clock, log, store, eventSink, folder: spoolDir });
  }

  open(grant: PublishGrant, publisher: PublisherHandle): Publication {
    return this.#hub.open(grant, publisher);
  }

  get publisherCount(): number {
    return this.#hub.publisherCount;
  }

  get figures(): HubFigures & { readonly requests: number; readonly waitingRequests: number } {
    return { ...this.#hub.figures, requests: this.#requests, waitingRequests: this.#hls.waiting };
  }

  /** Answers everything under `/hls/` and `/asset/hls/`. */
  handleHttp(req: IncomingMessage, res: ServerResponse): void {
    this.#requests++;
    this.#hls.handle(req, res);
  }

  /** Kept answers of the playback gate are asked for again: of one playback id, or of all. */
  accessChanged(playbackId: string | "all"): void {
    this.#hls.accessChanged(playbackId);
  }

  /** Close a stream's publisher and end its session on this node. */
  stop(streamId: string, why: StopReason): void {
    this.#hub.stop(streamId, why);
    this.#hls.accessChanged("all");
  }

  /** End every session cleanly and seal its recording. */
  drain(): Promise<void> {
    return this.#hub.drain();
  }

  close(): Promise<void> {
    this.#hls.close();
    return this.#hub.close();
  }
}

export function spoolDirOf(dataDir: string): string {
  return join(dataDir, "spool");
}
