import type { Timer } from "../../platform/clock.ts";
import type { SessionFeed } from "../feed/session-feed.ts";
import { initOfTrack } from "../packaging/init-of-track.ts";
import { VIDEO_TRACK, type VideoTrack } from "../packet.ts";
import type { Cut, Sample } from "../timeline/timeline-sink.ts";
import { FrameRateMeter, type FromChild } from "../transcode/index.ts";
import { LadderChild, type LadderChildSettings } from "./ladder-child.ts";
import type { Rung } from "./ladder-plan.ts";
import { MadeRungs } from "./made-rungs.ts";
import type { RungFeed } from "./rung-feed.ts";
import { type FinishedSegment, SegmentAttempts } from "./segment-attempts.ts";
import type { TranscodeAdmission, TranscodeSlot } from "./transcode-admission.ts";
import {
  isPaused,
  nextTranscodingStatus,
  type TranscodingInput,
  type TranscodingStatus,
} from "./transcoding-status.ts";

const ASK_AGAIN_MS = 10_000;
/** A transcoder that keeps failing is retried less and less often. */
const MAX_ASK_AGAIN_MS = 300_000;
const ATTEMPTS_A_SEGMENT = 3;
/** Segments would be late. */
const MAX_LAG_MS = 2000;
/** Jitter is not a change of the frame rate. */
const FPS_TOLERANCE = 0.2;
/** A child that is further behind is replaced where the rungs change: what waits in it would make the next segments late, too. */
const MAX_LAG_OF_CHANGE_MS = 500;

export interface LadderTranscoderSettings extends Pick<LadderChildSettings, "clock" | "log" | "encoding" | "children"> {
  readonly admission: TranscodeAdmission;
  /** The feed of the pictures, which brings a fresh child to where the one before was. */
  readonly source: Pick<SessionFeed, "replay">;
  readonly rungs: readonly Rung[];
  /** One per rung, in order. */
  readonly feeds: readonly RungFeed[];
}

interface ClosedSegment {
  /** Every rung that was to have it has it. */
  readonly isWhole: boolean;
  /** And so has every other rung. */
  readonly areAll: boolean;
  readonly seconds: number;
}

/**
 * Feeds one session's video to a child process, and passes the returned rungs to their feeds.
 *
 * The child may die at any moment. Its results stay; a new child is brought to the same place from the last IDR, and continues with the first
 * missing picture. A segment that cannot be encoded is a gap in the rungs; the source is never affected.
 */
export class LadderTranscoder {
  readonly #settings: LadderTranscoderSettings;
  readonly #feeds: readonly RungFeed[];
  readonly #segments = new SegmentAttempts();
  readonly #made: MadeRungs;
  #status: TranscodingStatus = { state: "off" };
  #track: VideoTrack | null = null;
  #slot: TranscodeSlot | null = null;
  readonly #meter = new FrameRateMeter();
  /** Null until enough was sent; then the slot is counted with this rate, whatever the source declares. */
  #measuredFps: number | null = null;
  readonly #child: LadderChild;
  #askAgain: Timer | null = null;
  #givenUp = 0;

  constructor(settings: LadderTranscoderSettings) {
    this.#settings = settings;
    this.#feeds = settings.feeds;
    this.#made = new MadeRungs(settings.rungs);
    this.#child = new LadderChild({
      ...settings,
      name: "ladder",
      maxLagMs: MAX_LAG_MS,
      // A whole segment is a success, and takes long enough by itself.
      steadyMs: 0,
      message: (message) => this.#receive(message),
      ended: () => {
        for (const feed of this.#feeds) feed.flush();
      },
      died: (reason, isLast) => this.#died(reason, isLast),
      restart: () => this.#track && this.#replaceChild(this.#track),
    });
  }

  get status(): TranscodingStatus {
    return this.#status;
  }

  /** The age of the oldest picture that the child was sent and has not encoded. */
  get lagMs(): number {
    return this.#child.process.lagMs;
  }

  /** Whether the rung with this index is encoded now; on a machine that is too slow for it, a rung is paused. */
  isMade(index: number): boolean {
    return this.#made.indices.has(index);
  }

  /** Whether the rung with this index was to have the segment. */
  isExpected(msn: number, index: number): boolean {
    return this.#segments.rungsOf(msn)?.has(index) ?? false;
  }

  get pausedRungs(): number {
    return this.#made.paused.length;
  }

  /** All rungs are made, and have been for long enough. */
  get isSteady(): boolean {
    return this.#made.isSteady;
  }

  /** A stretch begins with this video track, or without video. */
  stretch(track: VideoTrack | null): void {
    const isSame = track !== null && this.#track !== null && Buffer.compare(track.config, this.#track.config) === 0;
    this.#track = track;
    if (isSame && this.#child.process.isRunning) return;
    this.#child.drop();
    this.#askAgain?.cancel();
    if (this.#status.state === "starting" || this.#status.state === "running") this.#change({ type: "child-died" });
    if (track) this.#admit(track);
  }

  cut(cut: Cut): void {
    this.#followLoad();
    this.#segments.begin(cut.msn, this.#made.indices);
    this.#child.inOrder(() => {
      for (const feed of this.#feeds) feed.cut(cut);
    });
    this.#child.cut(cut);
  }

  sample(sample: Sample): void {
    const { clock } = this.#settings;
    this.#segments.sent(sample.data.byteLength, clock.now(), clock.monotonic());
    this.#countFrames(this.#meter.add(sample.decodeTime));
    this.#child.sample(sample);
  }

  #countFrames(fps: number | null): void {
    if (fps === null || Math.abs(fps / (this.#measuredFps ?? 0) - 1) < FPS_TOLERANCE) return;
    this.#measuredFps = fps;
    this.#slot?.measured(fps);
  }

  /** Nothing follows for now: the child finishes everything in flight, then the rungs close their open segments at `ticks`. */
  pause(ticks: number): void {
    this.#child.flush(() => {
      for (const feed of this.#feeds) feed.pause(ticks);
    });
  }

  /** Runs at once, or after what the child still has to give before a pause. */
  inOrder(action: () => void): void {
    this.#child.inOrder(action);
  }

  /** The session is over; `done` is called when the rungs have everything they will get. */
  end(done: () => void): void {
    this.#child.inOrder(() => {
      this.#askAgain?.cancel();
      this.#child.drop();
      this.#slot?.release();
      this.#slot = null;
      this.#change({ type: "session-ended" });
      done();
    });
  }

  /** A segment is closed in all renditions. Null if there was nothing to transcode: it was never begun, or the source had no picture for it. */
  segmentClosed(msn: number, { isWhole, areAll, seconds }: ClosedSegment): FinishedSegment | null {
    const { clock } = this.#settings;
    const now = clock.monotonic();
    const expected = this.#segments.rungsOf(msn);
    const isExpected = expected !== undefined && expected.size > 0;
    const wasPaused = isPaused(this.#status);
    const isOff = this.#status.state === "source-only" && !wasPaused;
    const finished = this.#segments.finish(msn, this.#child.process.pid, this.#errorOf(isWhole, areAll), now);
    // The machine is not too slow for what never came.
    if (finished?.sourceBytes === 0) return null;
    const isLate = finished !== null && (!isWhole || finished.latencyMs > seconds * 1000);
    if (isWhole && isExpected) {
      // A child that died or got stuck is not a slow one.
      if (!isLate || !wasPaused) this.#child.process.succeeded();
      this.#givenUp = 0;
      if (this.#isMaking && !(isLate && wasPaused)) this.#change({ type: "segment-done" });
    }
    // One that was begun before the last change tells nothing of the rungs that are made since.
    const isTold = expected === this.#made.indices && this.#child.process.failures === 0 && this.#isMaking;
    if (finished && isExpected && isTold) this.#made.segment(isLate, now);
    return finished && isOff ? { ...finished, missed: "source-only" } : finished;
  }

  /** A child works, or is about to. */
  get #isMaking(): boolean {
    const { state } = this.#status;
    return state === "starting" || state === "running" || isPaused(this.#status);
  }

  /** Why the segment is not in every rung; null if it is. */
  #errorOf(isWhole: boolean, areAll: boolean): string | null {
    if (areAll && isWhole) return null;
    if (this.#status.state === "source-only") return this.#status.reason;
    if (!isWhole) return "The renditions were not made in time.";
    return pausedSentence(this.#made.paused);
  }

  /** At a cut, the rungs that are made follow what the machine carries. */
  #followLoad(): void {
    if (!this.#isMaking) return;
    const { clock, log } = this.#settings;
    const wasSteady = this.#made.isSteady;
    const { gone, back } = this.#made.cut(this.#child.process.work, this.#track, clock.monotonic());
    if (gone.length > 0) log.warn({ renditions: namesOf(gone) }, "pausing renditions: this machine cannot keep up");
    if (back.length > 0) log.info({ renditions: namesOf(back) }, "making paused renditions again");
    if (!wasSteady && this.#made.isSteady) log.info({}, "all renditions have kept up for 30 s again");
    if (gone.length > 0 && this.#made.rungs.length === 0) this.#pauseAll();
    else if (gone.length > 0 || back.length > 0) this.#changeRungs(back);
  }

  #changeRungs(back: readonly Rung[]): void {
    const { isRunning } = this.#child.process;
    if (isRunning && this.lagMs <= MAX_LAG_OF_CHANGE_MS) {
      for (const { index } of back) this.#feeds[index]?.regain();
      this.#child.make(this.#made.rungs);
    } else if ((isRunning || isPaused(this.#status)) && this.#track) {
      // What came before this cut is late already, or was not to be made.
      this.#child.drop();
      this.#startChild(this.#track);
    }
  }

  #pauseAll(): void {
    this.#child.drop();
    for (const feed of this.#feeds) feed.lose();
    this.#change({ type: "all-paused", reason: ALL_PAUSED });
  }

  #change(input: TranscodingInput): void {
    this.#status = nextTranscodingStatus(this.#status, input);
  }

  #admit(track: VideoTrack): void {
    const { admission, rungs, clock, log } = this.#settings;
    if (!this.#slot) {
      const frameRate = this.#measuredFps ?? track.frameRate;
      const slot = admission.admit(frameRate === undefined ? track : { ...track, frameRate }, rungs);
      if (typeof slot === "string") {
        log.warn({ reason: slot }, "a ladder was refused");
        this.#change({ type: "refused", reason: slot });
        for (const feed of this.#feeds) feed.lose();
        this.#askAgain = clock.after(ASK_AGAIN_MS, () => this.#track && this.#admit(this.#track));
        return;
      }
      this.#slot = slot;
    }
    if (!this.#isMaking) this.#change({ type: "admitted" });
    if (this.#made.rungs.length > 0) this.#replaceChild(track);
    else this.#change({ type: "all-paused", reason: ALL_PAUSED });
  }

  #startChild(track: VideoTrack): void {
    this.#child.start(track, this.#made.rungs, Math.max(0, ...this.#feeds.map(({ endTicks }) => endTicks)));
    for (const [index, feed] of this.#feeds.entries()) {
      if (this.isMade(index)) feed.regain();
      else feed.lose();
    }
  }

  /** Start a child, and bring it to where the one before was. */
  #replaceChild(track: VideoTrack): void {
    this.#startChild(track);
    this.#child.replay(this.#settings.source);
  }

  #receive(message: FromChild): void {
    if (message.type === "packet") this.#feeds[message.rung]?.packet(message, message.isFirstOfSegment);
    else if (message.type === "ready") this.#ready(message.rungs);
    else if (message.type === "dropped") this.#lose(message.rungs);
    else if (message.type === "error" && message.isFatal) this.#giveUp(message.message);
  }

  #lose(rungs: readonly number[]): void {
    for (const index of rungs) if (!this.isMade(index)) this.#feeds[index]?.lose();
  }

  #ready(made: Extract<FromChild, { type: "ready" }>["rungs"]): void {
    this.#child.inOrder(() => {
      for (const { index, config } of made) {
        const rung = this.#settings.rungs[index];
        if (!rung) continue;
        const track = trackOf(rung, Buffer.from(config, "base64"));
        this.#feeds[index]?.useTrack(track, initOfTrack(track));
      }
    });
  }

  #died(reason: string, isLast: boolean): void {
    const { clock } = this.#settings;
    if (this.#segments.failed(this.#child.process.pid, reason, clock.monotonic()) >= ATTEMPTS_A_SEGMENT) {
      return this.#giveUp(`The transcoder failed ${ATTEMPTS_A_SEGMENT} times at one segment: ${reason}`, true);
    }
    if (isLast)
      return this.#giveUp(`The transcoder failed ${this.#child.process.failures} times in a row: ${reason}`, true);
    this.#change({ type: "child-died" });
  }

  /** No more attempts with this source: it plays as source only. `isTemporary` schedules a retry. */
  #giveUp(reason: string, isTemporary = false): void {
    const { clock, log } = this.#settings;
    log.warn({ reason }, "no renditions for a stream; it plays as source only");
    if (!isTemporary) this.#segments.failed(this.#child.process.pid, reason, clock.monotonic());
    this.#child.drop();
    this.#slot?.release();
    this.#slot = null;
    this.#change({ type: "gave-up", reason, cause: isTemporary ? "transcoder-failed" : "unsupported-source" });
    for (const feed of this.#feeds) feed.lose();
    if (!isTemporary) return;
    const ms = Math.min(ASK_AGAIN_MS * 2 ** this.#givenUp++, MAX_ASK_AGAIN_MS);
    this.#askAgain = clock.after(ms, () => this.#track && this.#admit(this.#track));
  }
}

const ALL_PAUSED = "All renditions are paused, because this machine is too slow for them.";

function namesOf(rungs: readonly Rung[]): string[] {
  return rungs.map(({ name }) => name);
}

function pausedSentence(rungs: readonly Rung[]): string {
  return `${namesOf(rungs).join(", ")} ${rungs.length === 1 ? "is" : "are"} paused, because this machine is too slow for all renditions.`;
}

function trackOf({ width, height, codecString, bitrateBps }: Rung, config: Uint8Array): VideoTrack {
  const shape = { id: VIDEO_TRACK, kind: "video", codec: "avc" } as const;
  return { ...shape, config, codecString, width, height, announcedBps: bitrateBps };
}
