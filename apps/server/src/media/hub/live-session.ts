import type { Timer } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { sleep } from "../../platform/retry.ts";
import type { PublishGrant, RestreamTarget, SessionStart } from "../../ports/index.ts";
import type { SessionDvr } from "../dvr/session-dvr.ts";
import type { LadderResources } from "../ladder/live-ladder.ts";
import type { LiveRendition } from "../packaging/live-rendition.ts";
import { SlateImages } from "../packaging/slate-images.ts";
import type { PublicationEnd, PublisherHandle, SourcePacket, Track } from "../packet.ts";
import type { PageMemory } from "../page-memory.ts";
import { type RestreamResources, SessionTargets } from "../restream/session-targets.ts";
import { Sent } from "../sent.ts";
import type { SessionOutputs } from "../session-outputs.ts";
import { openTimeline } from "../session-timeline.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { completedUntil } from "./completed-until.ts";
import { SessionFacts, type SessionFactsSettings } from "./session-facts.ts";
import { SessionMetrics } from "./session-metrics.ts";

/** An open connection that sends nothing for this long counts as a lost source. */
const SILENCE_MS = 5000;
/** Rungs that are not closed by then are missing at the end of the recording. */
const LATE_RUNGS_MS = 3_000;

export interface LiveSessionSettings extends SessionFactsSettings {
  readonly log: Log;
  readonly memory: PageMemory;
  /** Null if viewers cannot go back. */
  readonly dvr: SessionDvr | null;
  readonly reconnectWindowMs: number;
  readonly grant: Pick<PublishGrant, "streamId" | "projectId" | "playbackId">;
  readonly start: SessionStart;
  /** The live window of the owner before, as far as this node has a copy. */
  readonly window: ReadonlyMap<string, LiveRendition>;
  /** The node's transcoding resources. */
  readonly ladder: LadderResources;
  /** The node's forwarding resources. */
  readonly restream: RestreamResources;
  /** The current multistream targets of the stream. */
  readonly askTargets: () => Promise<readonly RestreamTarget[]>;
  /** An image as a keyframe for this `avcC`; null where it takes none. */
  readonly makeSlate: (config: Uint8Array, image: Uint8Array) => Promise<Uint8Array | null>;
  /** The session is over; its playlists stay available for its last viewers. */
  readonly onFinished: (session: LiveSession) => void;
  /** The source was away for longer than the reconnect window. */
  readonly onWindowOver: (session: LiveSession) => void;
}

/**
 * One session while this node holds it: its timeline and outputs, and its current publisher.
 *
 * States: *live* (packets arrive), *away* (the source is lost; playlists stay and the reconnect window runs), *left* (another node has the session
 * now; playlists stay as they are), *finished* (clean stop, window over, or stopped; playlists ended). Each publisher attaches with a higher epoch;
 * packets of an older one are ignored.
 */
export class LiveSession {
  readonly sessionId: string;
  readonly streamId: string;
  readonly playbackId: string;
  readonly timeline: Timeline;
  readonly outputs: SessionOutputs;
  readonly targets: SessionTargets;
  /** Null if viewers cannot go back. */
  readonly dvr: SessionDvr | null;
  readonly sent = new Sent();
  readonly #settings: LiveSessionSettings;
  readonly #facts: SessionFacts;
  readonly #metrics: SessionMetrics;
  #state: "live" | "away" | "left" | "finished" = "away";
  #epoch = 0;
  #publisher: PublisherHandle | null = null;
  #window: Timer | null = null;
  #areRungsWhole = false;
  #isGiven = false;
  /** When the session last became live, on the monotonic clock. */
  #liveSince = 0;

  constructor(settings: LiveSessionSettings) {
    const { clock, memory, start, grant, restream, dvr } = settings;
    const { slateImage } = start;
    this.#settings = settings;
    this.sessionId = start.sessionId;
    this.streamId = grant.streamId;
    this.playbackId = grant.playbackId;
    const log = settings.log.child({ streamId: grant.streamId });
    const facts = new SessionFacts(settings, this);
    const { timeline, outputs } = openTimeline({
      clock,
      memory,
      window: settings.window,
      resume: start.resume,
      lastTargetDuration: start.lastTargetDuration,
      lastSound: start.lastSound,
      hasSlate: start.slate !== "off",
      slateImages: slateImage && new SlateImages((config) => settings.makeSlate(config, slateImage)),
      onSegment: (segments, position) => {
        dvr?.sync();
        facts.segmentClosed(segments, position);
      },
      onUnstable: (reason) => this.#publisher?.close(reason),
      ladder: {
        ...settings.ladder,
        log,
        profiles: start.profiles,
        isDefault: start.isDefaultLadder,
        forTargets: new Set(start.targets.map(({ profile }) => profile)),
        onSegment: (segment) => facts.segmentTranscoded(segment),
        recorded: new Set(start.recordedProfiles),
        onRungs: (segments) => {
          dvr?.sync();
          facts.rungsClosed(segments);
        },
      },
    });
    this.timeline = timeline;
    this.outputs = outputs;
    this.dvr = dvr;
    dvr?.follow(outputs, start.resume?.nextMsn ?? 1);
    this.targets = new SessionTargets({
      ...restream,
      connect: restream.connectFor(grant.projectId),
      clock,
      log,
      findRendition: (profile) => outputs.feedOf(profile),
      ask: settings.askTargets,
      onChange: (target, status, event) => facts.targetChanged(target, status, event),
    });
    this.targets.set(start.targets);
    this.#facts = facts;
    this.#metrics = new SessionMetrics(clock, this);
  }

  get isFinished(): boolean {
    return this.#state === "finished";
  }

  /** Another node has the session now. */
  get isLeft(): boolean {
    return this.#state === "left";
  }

  get epoch(): number {
    return this.#epoch;
  }

  get isLive(): boolean {
    return this.#state === "live";
  }

  /** Total of all its publishers. */
  get bytesReceived(): number {
    return this.#metrics.bytesReceived;
  }

  /** A publisher starts to feed the session, or takes over from the previous one. */
  attach(epoch: number, publisher: PublisherHandle): void {
    this.#epoch = epoch;
    this.#publisher = publisher;
    this.#goLive();
    this.timeline.publisher({ isRepaired: publisher.clockRepairs !== undefined });
    this.#metrics.restart();
  }

  track(track: Track): void {
    this.#metrics.track(track);
    this.timeline.track(track);
  }

  packet(packet: SourcePacket): void {
    if (this.#state === "finished" || this.#state === "left") return;
    if (this.#state === "away") {
      this.#goLive();
      this.#facts.sourceBack();
    }
    this.timeline.packet(packet);
    this.#metrics.packet(packet);
    if (this.#metrics.areNew) this.#reportMetrics();
  }

  /** The publisher of this epoch disappeared. The window runs; the session may continue. */
  sourceLost(epoch: number, reason: string): void {
    if (epoch !== this.#epoch || this.#state !== "live") return;
    this.#state = "away";
    this.timeline.pause();
    this.targets.flow(false);
    this.#window = this.#settings.clock.after(this.#settings.reconnectWindowMs, () => this.#windowOver());
    this.#reportEnd("source-lost", reason);
  }

  /** The publisher of this epoch stopped on purpose, or was stopped. */
  cleanStop(epoch: number, reason: string): void {
    if (epoch !== this.#epoch || this.#state === "left") return;
    this.finish();
    this.#reportEnd("clean-stop", reason);
  }

  /** Another node goes on with the session: nothing more is sent or recorded here, and the playlists stay open. */
  leave(): void {
    if (this.#state === "finished" || this.#state === "left") return;
    this.#window?.cancel();
    if (this.#state === "live") this.timeline.pause();
    this.timeline.endSlate();
    this.#state = "left";
    this.outputs.moved();
    this.targets.end();
    void this.whole().then(() => {
      this.#areRungsWhole = true;
    });
  }

  /** It was left, and its renditions have all that they get here. */
  get isWhole(): boolean {
    return this.isLeft && (this.outputs.ladder === null || this.#areRungsWhole);
  }

  /** Resolves when the rungs of a session that was left or finished have all that they get. */
  async whole(): Promise<void> {
    const { ladder } = this.outputs;
    if (ladder) await Promise.race([ladder.ended, sleep(this.#settings.clock, LATE_RUNGS_MS)]);
  }

  /** The live window of a session that was left is another's from now on. False if there is none to give. */
  give(): boolean {
    const isHere = this.isLeft && !this.#isGiven;
    this.#isGiven ||= isHere;
    return isHere;
  }

  /** End the session now: playlists end, and the recording is sealed. */
  finish(): void {
    if (this.#state === "finished" || this.#state === "left") return;
    this.#state = "finished";
    this.#window?.cancel();
    try {
      this.timeline.end();
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
    if (this.#isGiven) return;
    if (this.isLeft) this.timeline.end();
    this.outputs.dispose();
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
    if (this.#settings.rungRecorder) await this.whole();
    await this.#seal();
  }

  get isRecorded(): boolean {
    return this.#settings.start.record;
  }

  /**
   * Resolves when what is shown before a program date-time is complete, or after the longest wait; of a recorded session, when it is with the sealer.
   */
  async completeUntil(untilMs: number): Promise<void> {
    await completedUntil(this.outputs.renditions, untilMs, this.#settings.clock, LATE_RUNGS_MS);
    await this.#seal(untilMs);
  }

  async #seal(untilMs?: number): Promise<void> {
    const { recorder, rungRecorder } = this.#settings;
    // First, so that a recording is judged with all its facts.
    await rungRecorder?.finish(untilMs);
    await recorder?.finish(untilMs);
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
    if (this.#state === "finished" || this.#state === "left") return;
    this.timeline.tick();
    this.targets.tick();
    if (this.#state !== "live") return;
    const now = this.#settings.clock.monotonic();
    if (now - this.#lastHeardAt >= SILENCE_MS) this.sourceLost(this.#epoch, "no packets for 5 s");
    const areDue = this.#metrics.tick(now, this.#publisher);
    // A source that was just lost has told how it ended.
    if (areDue && this.isLive) this.#reportMetrics();
  }

  get #lastHeardAt(): number {
    return Math.max(this.#liveSince, this.timeline.lastPacketAt);
  }

  #goLive(): void {
    this.#window?.cancel();
    this.#window = null;
    this.#state = "live";
    this.#liveSince = this.#settings.clock.monotonic();
    this.targets.flow(true);
  }

  #windowOver(): void {
    this.#settings.onWindowOver(this);
    this.#publisher?.close("No packets came for longer than the reconnect window.");
  }

  #reportEnd(why: PublicationEnd, reason: string): void {
    void this.#facts.sourceEnded(why, reason, this.#settings.clock.monotonic() - this.#lastHeardAt);
  }

  #reportMetrics(): void {
    this.#facts.metrics(this.#metrics.take(this.#publisher));
  }
}
