import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { LadderProfile, TranscodingReport } from "../../ports/index.ts";
import { type Feed, SessionFeed } from "../feed/session-feed.ts";
import { type ListedRendition, newestTrack } from "../packaging/hls/live-multivariant.ts";
import type { LiveOutput } from "../packaging/live-output.ts";
import type { LiveSegment } from "../packaging/live-segment.ts";
import { type RenditionSegment, SegmentLedger } from "../packaging/segment-ledger.ts";
import type { SlateImages } from "../packaging/slate-images.ts";
import { SlateOutputs } from "../packaging/slate-outputs.ts";
import { TICKS_PER_SECOND, type Track, VIDEO_TRACK, type VideoTrack } from "../packet.ts";
import type { Cut, Sample, SlateSink, TimelineSink } from "../timeline/timeline-sink.ts";
import type { TranscodeChildren } from "../transcode/index.ts";
import type { EncodingSettings } from "./ladder-child.ts";
import type { Rung } from "./ladder-plan.ts";
import { LadderTranscoder } from "./ladder-transcoder.ts";
import { RungFeed } from "./rung-feed.ts";
import type { FinishedSegment } from "./segment-attempts.ts";
import type { TranscodeAdmission } from "./transcode-admission.ts";
import type { TranscodingStatus } from "./transcoding-status.ts";

const LAST_FRAME_TICKS = TICKS_PER_SECOND / 4;

/** A node's transcoding resources. */
export interface LadderResources {
  readonly admission: TranscodeAdmission;
  readonly children: TranscodeChildren;
  readonly encoding: EncodingSettings;
}

/** The rungs that a stream asks for, and what to make them with. */
export interface LadderRequest extends LadderResources {
  readonly log: Log;
  readonly profiles: readonly LadderProfile[];
  /** The documented default ladder: rungs not smaller than the source are left out. */
  readonly isDefault: boolean;
  /** Profiles that multistream targets are to get. */
  readonly forTargets: ReadonlySet<string>;
  /** Names of the profiles whose rungs are recorded. */
  readonly recorded: ReadonlySet<string>;
  readonly onSegment: (segment: TranscodedSegment) => void;
  /** A segment is closed in every rung: those that are recorded. */
  readonly onRungs: (segments: readonly RenditionSegment[]) => void;
}

export interface LiveLadderSettings {
  readonly clock: Clock;
  readonly request: LadderRequest;
  readonly rungs: readonly Rung[];
  /** The feed that the ladder reads. */
  readonly source: Pick<SessionFeed, "replay">;
  /** Opens the live window of a rung, whose closed segments go to the ledger. */
  readonly open: (rendition: string, ledger: SegmentLedger) => LiveOutput;
}

/** The outcome of one source segment in the rungs. */
export interface TranscodedSegment extends FinishedSegment {
  readonly msn: number;
  /** At least one rung has it. */
  readonly isMade: boolean;
  /** Profiles of the rungs that lack it, and of those of them that were paused. */
  readonly missing: readonly string[];
  readonly paused: readonly string[];
  /** No rung is paused, and none was until a moment ago. */
  readonly isSteady: boolean;
  readonly seconds: number;
  readonly renditionBytes: number;
}

interface RungOutput extends LiveOutput {
  readonly rung: Rung;
  /** Its pictures. */
  readonly feed: SessionFeed;
}

/** A rung that viewers may watch, for readers of its pictures. Rungs have no B-frames. */
export interface WatchableRung {
  readonly id: string;
  readonly bitrateBps: number;
  readonly feed: Feed;
}

/** The rungs of one session: a transcoder, and for each rung its packager, live window and playlist. Fixed when the session begins. */
export class LiveLadder implements TimelineSink {
  readonly outputs: readonly RungOutput[];
  readonly #request: LadderRequest;
  readonly #transcoder: LadderTranscoder;
  readonly #ledger = new SegmentLedger((closed) => this.#closed(closed));
  #track: VideoTrack | null = null;
  /** End of each segment that is not closed in every rung, in 90 kHz ticks, once the source has reported it. */
  readonly #ends = new Map<number, number>();
  #newestMsn: number | null = null;
  /** End of the source's newest picture, in 90 kHz ticks. */
  #picturesEnd = 0;
  readonly #slate = new SlateOutputs();
  #hasFinished = false;
  readonly #ended = Promise.withResolvers<void>();

  constructor({ clock, request, rungs, source, open }: LiveLadderSettings) {
    this.#request = request;
    this.outputs = rungs.map((rung) => ({ rung, feed: new SessionFeed(), ...open(rung.id, this.#ledger) }));
    const feeds = this.outputs.map(({ packager, feed }) => new RungFeed(packager, feed));
    this.#transcoder = new LadderTranscoder({ ...request, clock, source, rungs, feeds });
  }

  /** What the rungs show while the source is away: each its own last picture, behind everything that is still being encoded. */
  readonly slate: Pick<SlateSink, "cut" | "picture" | "end"> & { begin(images: SlateImages | null): void } = {
    begin: (images) => this.#transcoder.inOrder(() => this.#slate.begin(this.outputs, images)),
    cut: (cut) => {
      this.#ledger.expect(cut.msn, this.outputs.length);
      this.#transcoder.inOrder(() => this.#slate.cut(cut));
    },
    picture: (ticks, duration) => this.#transcoder.inOrder(() => this.#slate.picture(ticks, duration)),
    end: (ticks) => this.#transcoder.inOrder(() => this.#slate.end(ticks)),
  };

  get status(): TranscodingStatus {
    return this.#transcoder.status;
  }

  /** The age of the oldest picture that was sent to the encoder and is not encoded. */
  get lagMs(): number {
    return this.#transcoder.lagMs;
  }

  /** The pictures of a profile; null where its rung is not made now. */
  feedOf(profile: string): Feed | null {
    return this.outputs.find(({ rung }) => rung.name === profile && this.#isMaking(rung))?.feed ?? null;
  }

  /** The rungs that are made now, but for those of targets alone. */
  get watchable(): readonly WatchableRung[] {
    const made = this.outputs.filter(({ rung }) => !rung.isForTargets && this.#isMaking(rung));
    return made.map(({ rung: { id, bitrateBps }, feed }) => ({ id, bitrateBps, feed }));
  }

  /** The rungs that a viewer may choose from now: from their start on, and not while nothing can be made of them. */
  get listed(): readonly ListedRendition[] {
    const { state } = this.#transcoder.status;
    if (state !== "starting" && state !== "running") return [];
    const listed = this.outputs.filter(({ rung }) => !rung.isForTargets);
    return listed.map(({ rung, rendition }) => {
      const { codecString, width, height, bitrateBps, frameRate } = rung;
      const shape = { id: VIDEO_TRACK, kind: "video", codec: "avc", config: new Uint8Array() } as const;
      const planned = { ...shape, codecString, width, height };
      const fps = frameRate && { plannedFps: frameRate.num / frameRate.den };
      return { rendition, track: newestTrack(rendition) ?? planned, plannedBps: bitrateBps, ...fps };
    });
  }

  /** The number of rungs that are not made because the machine is too slow for them. */
  get pausedRungs(): number {
    return this.#transcoder.pausedRungs;
  }

  /** The current state of the ladder. */
  get report(): TranscodingReport {
    const { status, lagMs } = this.#transcoder;
    const renditions = this.outputs.map(({ rung: { index, name, width, height }, rendition }) => {
      const isOff = status.state === "source-only" || !this.#transcoder.isMade(index);
      const state = isOff ? "off" : rendition.listed.at(-1)?.init === null ? "gap" : "running";
      return { name, width, height, state, lagMs } as const;
    });
    const isRecovering = this.pausedRungs === 0 && !this.#transcoder.isSteady;
    return { ...status, ...(isRecovering && { isRecovering }), renditions };
  }

  /** Resolves when everything encoded is closed. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  stretch(tracks: readonly Track[]): void {
    this.#track = tracks.find((track) => track.kind === "video") ?? null;
    this.#transcoder.stretch(this.#track);
  }

  cut(cut: Cut): void {
    // The sound cuts while no picture comes: a rung is whole if it has what there was.
    this.#endNewest(cut.byVideo ? cut.ticks : Math.min(cut.ticks, this.#picturesEnd));
    this.#newestMsn = cut.msn;
    this.#ledger.expect(cut.msn, this.outputs.length);
    this.#transcoder.cut(cut);
  }

  sample(sample: Sample): void {
    if (!this.#track || sample.kind !== "video") return;
    this.#picturesEnd = Math.max(this.#picturesEnd, sample.time + sample.duration);
    this.#transcoder.sample(sample);
  }

  pause(ticks: number): void {
    this.#endNewest(ticks);
    this.#newestMsn = null;
    this.#transcoder.pause(ticks);
  }

  /** Segments in flight are completed, and the rungs' playlists stay as they are. */
  moved(): void {
    this.#finish(() => {});
  }

  /** Segments in flight are completed, then the rungs' playlists end. */
  end(): void {
    this.#finish(() => {
      for (const { rendition, feed } of this.outputs) {
        rendition.end();
        feed.end();
      }
    });
  }

  #finish(done: () => void): void {
    if (this.#hasFinished) return done();
    this.#hasFinished = true;
    this.#transcoder.end(() => {
      done();
      this.#ended.resolve();
    });
  }

  #isMaking({ index }: Rung): boolean {
    const { state } = this.#transcoder.status;
    return state !== "source-only" && state !== "off" && this.#transcoder.isMade(index);
  }

  #endNewest(ticks: number): void {
    if (this.#newestMsn !== null) this.#ends.set(this.#newestMsn, ticks);
  }

  /** A segment is closed in every rung. */
  #closed(closed: readonly RenditionSegment[]): void {
    const [first] = closed;
    if (!first) return;
    const { msn, seconds, isSlate } = first.segment;
    if (isSlate) return this.#record(closed);
    const end = this.#ends.get(msn);
    this.#ends.delete(msn);
    const isThere = ({ segment }: RenditionSegment) => end !== undefined && isWholeUntil(segment, end);
    const without = new Set(closed.filter((each) => !isThere(each)).map(({ rendition }) => rendition.name));
    const rungs = this.outputs.map(({ rung }) => rung);
    const missing = rungs.filter(({ id }) => without.has(id));
    const paused = missing.filter(({ index }) => !this.#transcoder.isExpected(msn, index));
    const isMade = missing.length < closed.length;
    const finished = this.#transcoder.segmentClosed(msn, {
      isWhole: missing.length === paused.length,
      areAll: missing.length === 0,
      seconds,
    });
    const renditionBytes = closed.reduce((bytes, { segment }) => bytes + segment.bytes, 0);
    const names = { missing: missing.map(({ name }) => name), paused: paused.map(({ name }) => name) };
    const { isSteady } = this.#transcoder;
    if (finished) this.#request.onSegment({ ...finished, ...names, msn, isMade, isSteady, seconds, renditionBytes });
    this.#record(closed);
  }

  #record(closed: readonly RenditionSegment[]): void {
    const { recorded, onRungs } = this.#request;
    const recordedIds = new Set(this.outputs.flatMap(({ rung }) => (recorded.has(rung.name) ? rung.id : [])));
    const kept = closed.filter(({ rendition }) => recordedIds.has(rendition.name));
    if (kept.length > 0) onRungs(kept);
  }
}

/** True if the rung has bytes for all of the source's segment, apart from a last frame of unknown duration. */
function isWholeUntil({ init, startTicks, durationTicks }: LiveSegment, end: number): boolean {
  return init !== null && end - startTicks - durationTicks <= LAST_FRAME_TICKS;
}
