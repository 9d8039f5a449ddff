import type { Clock, Timer } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { sleep } from "../../platform/retry.ts";
import type {
  EventSink,
  RecordingRoom,
  RestreamTarget,
  SessionStart,
  SourceMeasure,
  TimelinePosition,
} from "../../ports/index.ts";
import type { LadderResources, TranscodedSegment } from "../ladder/live-ladder.ts";
import { LivePipeline } from "../live-pipeline.ts";
import type { RenditionSegment } from "../packaging/segment-ledger.ts";
import type { PublisherHandle, SourcePacket, Track } from "../packet.ts";
import type { PageMemory } from "../page-memory.ts";
import type { SessionRecorder } from "../recording/session-recorder.ts";
import { type RestreamResources, SessionTargets } from "../restream/session-targets.ts";
import type { TargetEvent, TargetStatus } from "../restream/target-status.ts";
import { ticksToMs } from "../timeline/ticks.ts";
import { completedUntil } from "./completed-until.ts";
import { SourceMeter, urgentStateOf } from "./source-meter.ts";
import type { WebrtcViewers } from "./webrtc-viewers.ts";

/** An open connection that sends nothing for this long counts as a lost source. */
const SILENCE_MS = 5000;
/** Rungs that are not closed by then are missing at the end of the recording. */
const LATE_RUNGS_MS = 3_000;
const METRICS_SECONDS = 10;
/** A ladder further behind than this is reported at once; from 2 s on it skips pictures. */
const LATE_LADDER_MS = 1500;

export interface LiveSessionSettings {
  readonly clock: Clock;
  readonly log: Log;
  /** This node as a transcoder: its id and location. */
  readonly orchestrator: { readonly address: string; readonly url: string };
  readonly eventSink: EventSink;
  readonly memory: PageMemory;
  readonly reconnectWindowMs: number;
  readonly streamId: string;
  readonly projectId: string;
  readonly playbackId: string;
  readonly start: SessionStart;
  /** The node's transcoding resources. */
  readonly ladder: LadderResources;
  /** The node's forwarding resources. */
  readonly restream: RestreamResources;
  /** The current multistream targets of the stream. */
  readonly askTargets: () => Promise<readonly RestreamTarget[]>;
  /** Free space for recordings. */
  readonly recordingRoom: () => RecordingRoom;
  /** Null if the session is not recorded. */
  readonly recorder: SessionRecorder | null;
  /** Null if the recording has no rungs. */
  readonly rungRecorder: SessionRecorder | null;
  /** The session is over; its playlists stay available for its last viewers. */
  readonly onFinished: (session: LiveSession) => void;
}

/**
 * One session while this node holds it: the pipeline, and its current publisher.
 *
 * States: *live* (packets arrive), *away* (the source is lost; playlists stay and the reconnect window runs), *finished* (clean stop, window
 * over, or stopped; playlists ended). Each publisher attaches with a higher epoch; packets of an older one are ignored.
 */
export class LiveSession {
  readonly sessionId: string;
  readonly streamId: string;
  readonly playbackId: string;
  readonly pipeline: LivePipeline;
  readonly targets: SessionTargets;
  /** Bytes sent to viewers; delivery adds to it. */
  bytesSent = 0;
  /** Number of parts and segments sent to viewers; delivery adds to it. */
  readonly sent = { playlist: 0, part: 0, segment: 0 };
  /** Those who watch by WebRTC, or were the last to; delivery sets it. */
  webrtcViewers: WebrtcViewers | null = null;
  readonly #settings: LiveSessionSettings;
  #state: "live" | "away" | "finished" = "away";
  #epoch = 0;
  #publisher: PublisherHandle | null = null;
  #window: Timer | null = null;
  /** When the session last became live, on the monotonic clock. */
  #liveSince = 0;
  #bytesReceived = 0;
  readonly #meter = new SourceMeter();
  #metricsAt: number | null = null;
  #sentAtMetrics = 0;
  #receivedAtMetrics = 0;
  #reportedLadder: string | null = null;
  #reportedPaused = 0;
  #reportedState = "";

  constructor(settings: LiveSessionSettings) {
    this.#settings = settings;
    this.sessionId = settings.start.sessionId;
    this.streamId = settings.streamId;
    this.playbackId = settings.playbackId;
    const log = settings.log.child({ streamId: settings.streamId });
    this.pipeline = new LivePipeline({
      clock: settings.clock,
      memory: settings.memory,
      resume: settings.start.resume,
      lastTargetDuration: settings.start.lastTargetDuration,
      lastSound: settings.start.lastSound,
      onSegment: (segments, position) => this.#segmentClosed(segments, position),
      onUnstable: (reason) => this.#publisher?.close(reason),
      ladder: {
        ...settings.ladder,
        log,
        profiles: settings.start.profiles,
        isDefault: settings.start.isDefaultLadder,
        forTargets: new Set(settings.start.targets.map(({ profile }) => profile)),
        onSegment: (segment) => this.#segmentTranscoded(segment),
        recorded: new Set(settings.start.recordedProfiles),
        onRungs: (segments) => this.#rungsClosed(segments),
      },
    });
    const { restream } = settings;
    this.targets = new SessionTargets({
      connect: restream.connectFor(settings.projectId),
      maxQueued: restream.maxQueued,
      sent: restream.sent,
      memory: restream.memory,
      clock: settings.clock,
      log,
      findRendition: (profile) => this.pipeline.feedOf(profile),
      ask: settings.askTargets,
      onChange: (target, status, event) => this.#targetChanged(target, status, event),
    });
    this.targets.set(settings.start.targets);
  }

  get isFinished(): boolean {
    return this.#state === "finished";
  }

  get epoch(): number {
    return this.#epoch;
  }

  get isLive(): boolean {
    return this.#state === "live";
  }

  /** Total of all its publishers. */
  get bytesReceived(): number {
    return this.#bytesReceived;
  }

  /** The tracks that the source sends. */
  get source(): SourceMeasure {
    return this.#meter.measure(this.#settings.clock.monotonic());
  }

  /** A publisher starts to feed the session, or takes over from the previous one. */
  attach(epoch: number, publisher: PublisherHandle): void {
    this.#epoch = epoch;
    this.#publisher = publisher;
    this.#goLive();
    this.#metricsAt = null;
    this.#receivedAtMetrics = this.#bytesReceived;
    this.pipeline.publisher();
    this.#meter.restart(this.pipeline.clockJumps);
  }

  track(track: Track): void {
    this.#meter.track(track);
    this.pipeline.track(track);
  }

  packet(packet: SourcePacket): void {
    if (this.#state === "finished") return;
    this.#bytesReceived += packet.data.byteLength;
    if (this.#state === "away") {
      const { clock, eventSink } = this.#settings;
      this.#goLive();
      eventSink.report({ type: "source-back", streamId: this.streamId, epoch: this.#epoch, at: clock.now() });
    }
    this.pipeline.packet(packet);
    this.#meter.packet(packet, this.pipeline.lastPacketAt);
    if (this.#metricsAt === null) this.#reportMetrics();
  }

  /** The publisher of this epoch disappeared. The window runs; the session may continue. */
  sourceLost(epoch: number, reason: string): void {
    if (epoch !== this.#epoch || this.#state !== "live") return;
    this.#state = "away";
    this.pipeline.pause();
    this.targets.flow(false);
    this.#window = this.#settings.clock.after(this.#settings.reconnectWindowMs, () => this.#windowOver());
    this.#reportEnd("source-lost", reason);
  }

  /** The publisher of this epoch stopped on purpose, or was stopped. */
  cleanStop(epoch: number, reason: string): void {
    if (epoch !== this.#epoch) return;
    this.finish();
    this.#reportEnd("clean-stop", reason);
  }

  /** End the session now: playlists end, and the recording is sealed. */
  finish(): void {
    if (this.#state === "finished") return;
    this.#state = "finished";
    this.#window?.cancel();
    try {
      this.pipeline.end();
    } finally {
      this.targets.end();
      this.#settings.onFinished(this);
    }
  }

  /** Its media cannot be processed: the session ends, and its publisher is closed. Other sessions are not affected. */
  fail(error: unknown): void {
    const { log } = this.#settings;
    const about = { streamId: this.streamId, sessionId: this.sessionId };
    log.error({ err: error, ...about }, "ending a session: its media could not be processed");
    try {
      this.finish();
    } catch (err) {
      log.error({ err, ...about }, "the last media of a failed session was lost");
    }
    this.#reportEnd("clean-stop", "internal error");
    this.#publisher?.close("The server could not process this stream. Its log says why.");
  }

  /** No viewers are left: release the memory. */
  dispose(): void {
    for (const rendition of this.pipeline.renditions) rendition.dispose();
  }

  /** Release everything as it is. */
  async close(): Promise<void> {
    this.#window?.cancel();
    this.targets.end();
    await this.#settings.rungRecorder?.abandon();
    await this.#settings.recorder?.abandon();
  }

  /** Resolves when the recording of the ended session is with the sealer. */
  async sealed(): Promise<void> {
    const { clock, rungRecorder } = this.#settings;
    if (rungRecorder) await Promise.race([this.pipeline.rungsEnded(), sleep(clock, LATE_RUNGS_MS)]);
    await this.#seal();
  }

  /**
   * Resolves when a running recording is with the sealer up to a program date-time, or after the longest wait. The recording continues in another
   * chapter.
   */
  async sealUntil(untilMs: number): Promise<void> {
    const { clock, recorder } = this.#settings;
    if (!recorder) return;
    await completedUntil(this.pipeline.renditions, untilMs, clock, LATE_RUNGS_MS);
    await this.#seal();
  }

  async #seal(): Promise<void> {
    const { recorder, rungRecorder } = this.#settings;
    // First, so that a recording is judged with all its facts.
    await rungRecorder?.finish();
    await recorder?.finish();
  }

  /** Must be called every 50 ms: notices missing packets. */
  tick(): void {
    try {
      this.#tick();
    } catch (error) {
      this.fail(error);
    }
  }

  #tick(): void {
    if (this.#state === "finished") return;
    this.pipeline.tick();
    this.targets.tick();
    if (this.#state !== "live") return;
    const now = this.#settings.clock.monotonic();
    if (now - this.#lastHeardAt >= SILENCE_MS) this.sourceLost(this.#epoch, "no packets for 5 s");
    const isSecond = this.#meter.tick(now, this.pipeline.clockJumps);
    if (this.#metricsAt === null || this.#state !== "live") return;
    const isUrgent = this.#hasLadderChanged() || (isSecond && this.#urgentState() !== this.#reportedState);
    // At whole seconds, so that many sessions report in one tick and their facts are written in one transaction.
    const areDue = Math.floor(now / 1000) >= Math.floor(this.#metricsAt / 1000) + METRICS_SECONDS;
    if (isUrgent || areDue) this.#reportMetrics();
  }

  get #lastHeardAt(): number {
    return Math.max(this.#liveSince, this.pipeline.lastPacketAt);
  }

  #hasLadderChanged(): boolean {
    const { transcodingState, pausedRungs } = this.pipeline;
    return transcodingState !== this.#reportedLadder || pausedRungs !== this.#reportedPaused;
  }

  /** The state whose changes are reported at once. */
  #urgentState(): string {
    const isLadderLate = this.pipeline.transcodingLagMs >= LATE_LADDER_MS;
    return `${urgentStateOf(this.source)},${isLadderLate},${this.#hasBFrames},${this.targets.urgentState}`;
  }

  get #hasBFrames(): boolean {
    return this.webrtcViewers?.hasBFrames ?? false;
  }

  #goLive(): void {
    this.#window?.cancel();
    this.#window = null;
    this.#state = "live";
    this.#liveSince = this.#settings.clock.monotonic();
    this.targets.flow(true);
  }

  /** The fields of every fact about the session. */
  #about() {
    const at = this.#settings.clock.now();
    return { streamId: this.streamId, epoch: this.#epoch, at, sessionId: this.sessionId };
  }

  #targetChanged({ id, name, profile }: RestreamTarget, status: TargetStatus, told: TargetEvent): void {
    this.#settings.eventSink.report({
      type: "target-changed",
      ...this.#about(),
      target: { id, name, profile },
      state: status.state,
      reason: "reason" in status ? status.reason : null,
      told,
    });
  }

  #windowOver(): void {
    this.finish();
    this.#publisher?.close("No packets came for longer than the reconnect window.");
  }

  #segmentClosed(segments: readonly RenditionSegment[], position: TimelinePosition): void {
    const { eventSink, recorder } = this.#settings;
    const source = segments.find(({ segment }) => segment.init !== null)?.segment;
    const fact = {
      type: "segment-closed",
      ...this.#about(),
      position,
      durationSeconds: source?.seconds ?? 0,
      bytes: segments.reduce((bytes, { segment }) => bytes + segment.bytes, 0),
    } as const;
    // A session in which no sound ever came has no audio in its recording.
    const hasSound = position.sound !== null;
    const recorded = segments.filter(({ segment }) => hasSound || segment.init?.track.kind !== "audio");
    if (recorder) recorder.record(fact, recorded);
    else eventSink.report({ ...fact, recorded: [] });
  }

  #rungsClosed(segments: readonly RenditionSegment[]): void {
    const { rungRecorder } = this.#settings;
    const fact = {
      type: "rungs-recorded",
      ...this.#about(),
      bytes: segments.reduce((bytes, { segment }) => bytes + segment.bytes, 0),
    } as const;
    rungRecorder?.record(fact, segments);
  }

  #segmentTranscoded({
    msn,
    isMade,
    missing,
    paused,
    isSteady,
    seconds,
    sourceBytes,
    startTime,
    latencyMs,
    attempts,
    missed,
    renditionBytes,
  }: TranscodedSegment): void {
    const { eventSink, orchestrator } = this.#settings;
    eventSink.report({
      type: "segment-transcoded",
      ...this.#about(),
      segment: { name: `${msn}.m4s`, seqNo: msn, duration: seconds, byteSize: sourceBytes },
      startTime,
      latencyMs,
      success: isMade,
      missing,
      paused,
      isSteady,
      missed,
      attempts: attempts.map(({ child, latencyMs, error }) => ({
        orchestrator: { address: orchestrator.address, transcodeUri: `${orchestrator.url}/transcode/${child}` },
        latencyMs,
        error,
      })),
      renditionBytes,
    });
  }

  /** Runs after the recorder has reported its last segment, so that a reader of the facts in order sees a session end when all of it is known. */
  async #reportEnd(why: "clean-stop" | "source-lost", reason: string): Promise<void> {
    const { clock, eventSink, recorder } = this.#settings;
    const fact = {
      type: "source-ended",
      streamId: this.streamId,
      epoch: this.#epoch,
      at: clock.now(),
      why,
      reason,
    } as const;
    const lastPacketAt = clock.now() - Math.round(clock.monotonic() - this.#lastHeardAt);
    await recorder?.flushed();
    eventSink.report({ ...fact, lastPacketAt });
  }

  #reportMetrics(): void {
    const { clock, eventSink, recorder, recordingRoom } = this.#settings;
    const now = clock.monotonic();
    const seconds = this.#metricsAt === null ? 0 : (now - this.#metricsAt) / 1000;
    const rate = (bytes: number) => (seconds > 0 ? Math.round(bytes / seconds) : 0);
    eventSink.report({
      type: "source-metrics",
      ...this.#about(),
      source: this.source,
      recordingRoom: recorder ? recordingRoom() : null,
      mediaTimeMs: Math.round(ticksToMs(this.pipeline.position.endTicks, 90_000)),
      ingestRate: rate(this.#bytesReceived - this.#receivedAtMetrics),
      outgoingRate: rate(this.bytesSent - this.#sentAtMetrics),
      transcoding: this.pipeline.transcoding,
      webrtc: {
        publisher: this.#publisher?.takeLink?.() ?? null,
        viewers: this.webrtcViewers?.take() ?? null,
        hasBFrames: this.#hasBFrames,
      },
      targets: this.targets.reports,
    });
    this.#metricsAt = now;
    this.#reportedLadder = this.pipeline.transcodingState;
    this.#reportedPaused = this.pipeline.pausedRungs;
    this.#reportedState = this.#urgentState();
    this.#receivedAtMetrics = this.#bytesReceived;
    this.#sentAtMetrics = this.bytesSent;
  }
}
