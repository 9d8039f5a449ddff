import { chmod } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { sleep } from "../platform/retry.ts";
import { Slices } from "../platform/slices.ts";
import {
  type ClipMoments,
  type HeldSession,
  type HeldSessions,
  type LossReason,
  type MediaIndex,
  type PublishGrant,
  type RecordedSegment,
  recordingPrefix,
  type SessionStart,
  type StopReason,
  type StoreAnswer,
  type StoredContent,
  type StreamMove,
} from "../ports/index.ts";
import { WindowKeeper } from "./clips/window-keeper.ts";
import { parseToldViewers } from "./delivery/front/counting-nodes.ts";
import { Playback, type PlaybackSettings } from "./delivery/playback.ts";
import { WhepDelivery } from "./delivery/whep/whep-delivery.ts";
import { loadEarlier } from "./dvr/earlier-rows.ts";
import { SessionDvr } from "./dvr/session-dvr.ts";
import { FollowedSessions, Handover, type ToldMove, type ToldSent, WindowServer } from "./follow/index.ts";
import { Hub, type HubFigures, type HubSettings } from "./hub/hub.ts";
import { type MediaHandler, MediaRoutes, nothingHere } from "./media-routes.ts";
import { type MediaMemory, openMediaMemory } from "./memory-pool.ts";
import type { Publication, PublisherHandle } from "./packet.ts";
import type { PageMemory } from "./page-memory.ts";
import { DvrSpool } from "./recording/dvr-spool.ts";
import { listSpool, recoverSpool } from "./recording/recover-spool.ts";
import { SessionRecorder } from "./recording/session-recorder.ts";
import { SpanSealer } from "./recording/span-sealer.ts";
import { SpoolDisk } from "./recording/spool-disk.ts";
import { SpoolSource } from "./recording/spool-source.ts";
import { spooledFacts } from "./recording/spooled-facts.ts";
import { Sent } from "./sent.ts";
import { StoredMedia } from "./stored/stored-media.ts";
import type { WebrtcAddress } from "./webrtc/advertised-addresses.ts";
import type { TurnCredentials } from "./webrtc/turn-credentials.ts";
import { WebrtcEndpoint } from "./webrtc/webrtc-endpoint.ts";
import type { OfferTaker } from "./webrtc/webrtc-offer.ts";
import type { WebrtcPeers } from "./webrtc/webrtc-process.ts";

export { openClipMaker } from "./clips/open-clip-maker.ts";
export { closeSlowReaders } from "./delivery/http/slow-readers.ts";
export { StoredFileExporter } from "./file-transcode/stored-file-exporter.ts";
export { StoredFileTranscoder } from "./file-transcode/stored-file-transcoder.ts";
export type { LadderResources } from "./ladder/live-ladder.ts";
export { TranscodeAdmission } from "./ladder/transcode-admission.ts";
export { MEDIA_PREFIXES } from "./media-routes.ts";
export { Restreaming } from "./restream/restreaming.ts";
export { openAssetPipeline } from "./vod/open-asset-pipeline.ts";

/** A session that a kill interrupted goes on within the reconnect window; a publisher may have begun to connect at its end. */
const RESUME_MARGIN_MS = 60_000;
/** From its beginning; what a process closes after it needs the rest of the time that it has. */
const MAX_DRAIN_MS = 4_000;
/** A clip is made of what is in the object store by then. */
const MAX_SEAL_MS = 10_000;

export interface MediaPlaneSettings
  extends Omit<PlaybackSettings, "live" | "copies" | "children">,
    Omit<
      HubSettings,
      "slices" | "memory" | "takeover" | "recordingRoom" | "makeSlate" | "createRecorder" | "createDvr"
    > {
  /** Spool of recordings: must survive the process, needs no backup. */
  readonly spoolDir: string;
  /** What viewers can go back to in sessions that are not recorded. The same disk. */
  readonly dvrDir: string;
  /** Room where the spool lies; the object store knows its own. */
  readonly spoolFreeBytes: () => number;
}

export interface WebrtcService {
  readonly publish: OfferTaker;
  readonly peers: WebrtcPeers;
  readonly address: WebrtcAddress;
  /** UDP port of the STUN responder; null where there is none. */
  readonly stunPort: number | null;
  /** Null where there are no TURN servers. */
  readonly turn: TurnCredentials | null;
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
export class MediaPlane implements HeldSessions {
  readonly memory: MediaMemory = openMediaMemory();
  readonly #settings: MediaPlaneSettings;
  readonly #hub: Hub;
  readonly #playback: Playback;
  /** Null where nodes do not reach each other. */
  readonly #followed: FollowedSessions | null;
  readonly #told: WindowServer;
  readonly #routes: MediaRoutes;
  #whep: WhepDelivery | null = null;
  #webrtc: MediaHandler = nothingHere;
  readonly #disk: SpoolDisk;
  readonly #dvrSpool: DvrSpool;
  readonly #sealer: SpanSealer;
  /** Publishers that begin, and sessions that go on after a restart, take turns. */
  readonly #slices: Slices;
  readonly #windows: WindowKeeper;
  readonly #closing = new AbortController();

  constructor(settings: MediaPlaneSettings) {
    const { clock, log, eventSink, store, spoolDir, dvrDir, spoolFreeBytes, reconnectWindowMs, others } = settings;
    this.#settings = settings;
    this.#slices = new Slices(settings.clock);
    const takeLeft = (playbackId: string) => this.#hub.takeLeft(playbackId);
    const copies = others && new FollowedSessions({ clock, log, memory: this.memory.parts, others, takeLeft });
    this.#followed = copies;
    const disk = new SpoolDisk({ folder: spoolDir, freeBytes: spoolFreeBytes });
    const sealer = new SpanSealer({ clock, log, store, eventSink });
    this.#disk = disk;
    this.#sealer = sealer;
    this.#windows = new WindowKeeper(clock, log, store);
    this.#hub = new Hub({
      ...settings,
      slices: this.#slices,
      memory: this.memory,
      takeover: others && copies && new Handover({ clock, log, others, copies }),
      recordingRoom: () => ({ spoolFreeBytes: disk.freeBytes(), storeFreeBytes: store.freeBytes() }),
      createRecorder: ({ projectId, streamId }, { sessionId, record }, part, dvr) => {
        const owner = { projectId, streamId, sessionId, part };
        if (!record && dvr) return this.#dvrSpool.recorder(owner, dvr);
        const onWritten = (rows: readonly RecordedSegment[]) => dvr?.recorded(rows);
        return new SessionRecorder({ clock, log, eventSink, disk, sealer, ...owner, onWritten });
      },
      createDvr: (grant, start) => this.#openDvr(grant, start),
      makeSlate: (config, image) => this.#playback.makeSlate(config, image),
    });
    this.#dvrSpool = new DvrSpool({
      ...{ clock, log, eventSink, folder: dvrDir, freeBytes: spoolFreeBytes },
      isHeld: (sessionId) => this.#hub.session(sessionId) !== undefined,
      resumeMs: reconnectWindowMs + RESUME_MARGIN_MS,
    });
    const { ladder } = settings;
    this.#told = new WindowServer({ clock, sessions: this.#hub });
    const playback = new Playback({ ...settings, live: this.#hub, copies, children: ladder.children });
    this.#playback = playback;
    const media: MediaHandler = (req, res, forwarded) => playback.handle(req, res, forwarded);
    this.#routes = new MediaRoutes({
      "/hls/": media,
      "/asset/hls/": media,
      "/recordings/": (req, res) => playback.handleRecording(req, res),
      "/webrtc/": (req, res, forwarded) => this.#webrtc(req, res, forwarded),
    });
  }

  /** Find what an earlier run left in the spool, and go on with it in the background. To be awaited before anything is published. */
  async start(): Promise<void> {
    const { clock, log, eventSink } = this.#settings;
    await this.#disk.makeFolder(this.#disk.folder);
    await chmod(this.#disk.folder, 0o700);
    await this.#dvrSpool.start();
    const left = await listSpool(this.#disk.folder);
    // Before anybody judges what became of them; reading them takes longer.
    for (const fact of spooledFacts(left, clock.now())) eventSink.report(fact);
    void recoverSpool(left, { clock, log, eventSink, sealer: this.#sealer, signal: this.#closing.signal });
  }

  #openDvr(
    { projectId, streamId }: PublishGrant,
    { sessionId, startedAtMs, dvrSeconds, record, resume }: SessionStart,
  ): SessionDvr | null {
    const { clock, log, store, catalogue } = this.#settings;
    if (dvrSeconds === null) return null;
    const spool = record ? new SpoolSource(this.#disk.folder, sessionId) : this.#dvrSpool.source(sessionId);
    const stored = new StoredMedia(emptyIndex(projectId, sessionId), store);
    const dvr = new SessionDvr({
      windowSeconds: dvrSeconds,
      startedAtMs,
      sources: record ? [spool, stored] : [spool],
      isInRecording: async () => {
        try {
          return !record || (await catalogue.dvrRecording(streamId, sessionId)) !== null;
        } catch (error) {
          log.warn({ err: error, sessionId }, "could not ask whether an ended session has its recording; asking again");
          return false;
        }
      },
    });
    const { signal } = this.#closing;
    const earlier = {
      clock,
      log,
      slices: this.#slices,
      sessionId,
      readSpool: () => spool.rows(),
      readStore: () => (record ? catalogue.sealedSegments(sessionId) : []),
      signal,
    };
    if (resume) void loadEarlier(dvr, earlier);
    return dvr;
  }

  /** Answer WebRTC offers: to publish by `publish`, to watch from here. */
  serveWebrtc({ publish, peers, address, stunPort, turn }: WebrtcService): void {
    const { ladder: transcoding } = this.#settings;
    const { admissions } = this.#playback;
    const watch = new WhepDelivery({ ...this.#settings, admissions, sessions: this.#hub, peers, address, transcoding });
    const prepare = () => peers.prepare();
    const endpoint = new WebrtcEndpoint({ ...this.#settings, prepare, watch, publish, stunPort, turn });
    this.#whep = watch;
    this.#webrtc = (req, res, forwarded) => endpoint.handle(req, res, forwarded);
  }

  open(grant: PublishGrant, publisher: PublisherHandle): Publication {
    return this.#hub.open(grant, publisher);
  }

  get figures(): HubFigures & PlaneFigures {
    const { sent: own, bytesSent, ...figures } = this.#hub.figures;
    const copies = this.#followed?.sent;
    const sent = new Sent();
    sent.add({ bytes: bytesSent, responses: own });
    if (copies) sent.add(copies);
    return {
      ...figures,
      bytesSent: sent.bytes,
      sent: sent.responses,
      requests: this.#routes.requests,
      webrtcViewers: this.#whep?.viewerCount ?? 0,
      waitingRequests: this.#playback.waiting,
      unsealedChapters: this.#sealer.waiting,
      pages: this.memory.parts,
    };
  }

  /** Answers everything under `MEDIA_PREFIXES`. */
  readonly handleHttp: MediaHandler = (req, res, forwarded) => this.#routes.handle(req, res, forwarded);

  /** Tells another node the live window of a session. */
  readonly tellWindow = (url: string, res: ServerResponse): void => this.#told.handle(url, res);

  /** Tells the next owner of a session of this node where it goes on. Throws for what is no move. */
  readonly handOver = (told: string, res: ServerResponse): void => {
    const { move, previousEpoch, from } = JSON.parse(told) as ToldMove;
    this.moved(move, false);
    const session = this.#hub.session(move.sessionId);
    if (session?.isLeft && session.epoch === previousEpoch)
      this.#told.handOver(session, { position: session.timeline.position, from }, res);
    else res.writeHead(404, { "content-length": "0" }).end();
  };

  /** Counts what viewers of a copy at another node were sent of a session of this one. Throws for what is no count. */
  readonly countSent = (told: string, res: ServerResponse): void => {
    const all = [JSON.parse(told) as ToldSent | ToldSent[]].flat();
    const areKnown = all.every(({ sessionId }) => this.#hub.session(sessionId));
    for (const { sessionId, bytes } of areKnown ? all : []) {
      const session = this.#hub.session(sessionId);
      if (session && Number.isSafeInteger(bytes) && bytes > 0) session.sent.bytesElsewhere += bytes;
    }
    res.writeHead(areKnown ? 204 : 404, areKnown ? {} : { "content-length": "0" }).end();
  };

  /** Counts viewers of another node. Throws for what is no list of them. */
  readonly countViewers = (told: string, res: ServerResponse): void => {
    this.#playback.admissions.countElsewhere(parseToldViewers(told));
    res.writeHead(204).end();
  };

  /** Kept answers of the playback gate are asked for again: of one playback id, or of all. */
  accessChanged(playbackId: string | "all"): void {
    this.#playback.admissions.accessChanged(playbackId);
  }

  /** The multistream targets of a stream have changed, or those of any may have. */
  targetsChanged(streamId: string | "all"): void {
    this.#hub.targetsChanged(streamId);
  }

  /** Tell the catalogue how large a recording's MP4 is. */
  measureRecording(content: StoredContent): void {
    this.#playback.measureRecording(content);
  }

  /** Put what a session shows between two moments into the object store, for a clip. */
  async storeMoments(moments: ClipMoments): Promise<StoreAnswer> {
    const { sessionId, toMs } = moments;
    const session = this.#hub.session(sessionId);
    if (session && !session.isRecorded) return this.#windows.keep(session, moments);
    await session?.completeUntil(toMs);
    const sealed = this.#sealer.sealed(sessionId);
    if (!sealed) return session ? "stored" : "not-here";
    const late = sleep(this.#settings.clock, MAX_SEAL_MS).then(() => "failed" as const);
    return Promise.race([sealed.then(() => "stored" as const), late]);
  }

  /** The sessions that this node takes for its own. */
  held(): readonly HeldSession[] {
    return this.#hub.held();
  }

  /** A session of this node is another's now, or nobody's. */
  lost({ streamId, sessionId, epoch }: HeldSession, why: LossReason): void {
    if (why === "moved") this.#hub.moved({ streamId, epoch: epoch + 1 });
    else if (why === "window-over") this.#hub.windowOver(sessionId);
    else this.stop(streamId, why);
  }

  /** A stream has an owner on another node, or on this one. */
  moved(move: StreamMove, isHere: boolean): void {
    const { streamId, sessionId, nodeId, address } = move;
    if (address !== null) this.#settings.others?.moved(streamId, { nodeId, address });
    if (isHere) return;
    this.#hub.moved(move);
    const left = this.#hub.session(sessionId);
    if (left?.isLeft && address !== null) void this.#followed?.find(left.playbackId, streamId, { nodeId, address });
  }

  /** Close a stream's publisher and end its session on this node. */
  stop(streamId: string, why: StopReason): void {
    this.#hub.stop(streamId, why);
    this.accessChanged("all");
  }

  /**
   * End every session cleanly, or leave it to another node if `isHeld`, and seal its recording. What the object store does not take in time stays
   * in the spool for the next start.
   */
  async drain(isHeld = false): Promise<void> {
    const { clock, log } = this.#settings;
    const late = sleep(clock, MAX_DRAIN_MS);
    await this.#hub.drain(isHeld);
    await Promise.race([this.#sealer.settled(), late]);
    const { waiting } = this.#sealer;
    if (waiting === 0) return;
    log.warn(
      { chapters: waiting },
      "the object store did not take all recordings in time; the next start stores the rest",
    );
    // Its last puts may end while others are closed.
    void this.#sealer.close();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#whep?.close();
    this.#playback.close();
    this.#followed?.close();
    await this.#hub.close();
    await this.#dvrSpool.close();
    await this.#sealer.close();
  }
}

/** Of media whose segments are known elsewhere. */
function emptyIndex(projectId: string, id: string): MediaIndex {
  return { id, projectId, keyPrefix: recordingPrefix(projectId, id), renditions: [] };
}

export function dvrDirOf(dataDir: string): string {
  return join(dataDir, "dvr");
}

export function spoolDirOf(dataDir: string): string {
  return join(dataDir, "spool");
}
