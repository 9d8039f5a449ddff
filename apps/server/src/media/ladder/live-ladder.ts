import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { LadderProfile, TranscodingReport } from "../../ports/index.ts";
import { type FeedSink, SessionFeed } from "../feed/session-feed.ts";
import { LivePlaylist } from "../packaging/hls/live-playlist.ts";
import { LiveRendition } from "../packaging/live-rendition.ts";
import type { LiveSegment } from "../packaging/live-segment.ts";
import type { PartTarget } from "../packaging/part-target.ts";
import { RenditionPackager } from "../packaging/rendition-packager.ts";
import { type RenditionSegment, SegmentLedger } from "../packaging/segment-ledger.ts";
import { TICKS_PER_SECOND, type Track, type VideoTrack } from "../packet.ts";
import type { PageMemory } from "../page-memory.ts";
import type { TargetDuration } from "../timeline/target-duration.ts";
import type { Cut, Sample } from "../timeline/timeline-sink.ts";
import type { TranscodeChildren } from "../transcode/index.ts";
import { planLadder, type Rung } from "./ladder-plan.ts";
import { type EncodingSettings, LadderTranscoder } from "./ladder-transcoder.ts";
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

export interface LiveLadderSettings extends LadderResources {
  readonly clock: Clock;
  readonly log: Log;
  readonly memory: PageMemory;
  readonly partTarget: PartTarget;
  readonly discontinuitySequence: number;
  readonly target: TargetDuration;
  readonly rungs: readonly Rung[];
  /** The feed that the ladder reads. */
  readonly source: Pick<SessionFeed, "replay">;
  /** All renditions of the timeline, for their rendition reports. */
  readonly siblings: () => Iterable<LiveRendition>;
  readonly onSegment: (segment: TranscodedSegment) => void;
  /** Names of the profiles whose rungs are recorded. */
  readonly recorded: ReadonlySet<string>;
  /** A segment is closed in every rung: those that are recorded. */
  readonly onRungs: (segments: readonly RenditionSegment[]) => void;
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

export interface RungBranch {
  readonly rung: Rung;
  /** Its pictures. */
  readonly feed: SessionFeed;
  readonly rendition: LiveRendition;
  readonly playlist: LivePlaylist;
}

/** The rungs of one session: a transcoder, and for each rung its packager, live window and playlist. Fixed when the session begins. */
export class LiveLadder implements FeedSink {
  readonly branches: readonly RungBranch[];
  readonly #transcoder: LadderTranscoder;
  readonly #ledger: SegmentLedger;
  #track: VideoTrack | null = null;
  /** End of each segment that is not closed in every rung, in 90 kHz ticks, once the source has reported it. */
  readonly #ends = new Map<number, number>();
  #newestMsn: number | null = null;
  readonly #ended = Promise.withResolvers<void>();

  constructor(settings: LiveLadderSettings) {
    const {
      clock,
      log,
      memory,
      partTarget,
      discontinuitySequence,
      target,
      rungs,
      source,
      siblings,
      recorded,
      onSegment,
      onRungs,
    } = settings;
    const recordedIds = new Set(rungs.filter(({ name }) => recorded.has(name)).map(({ id }) => id));
    const feeds: RungFeed[] = [];
    this.#ledger = new SegmentLedger((closed) => {
      const [first] = closed;
      if (!first) return;
      const { msn } = first.segment;
      const end = this.#ends.get(msn);
      this.#ends.delete(msn);
      const { seconds } = first.segment;
      const isThere = (segment: LiveSegment) => end !== undefined && isWholeUntil(segment, end);
      const without = new Set(closed.filter(({ segment }) => !isThere(segment)).map(({ rendition }) => rendition.name));
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
      if (finished) onSegment({ ...finished, ...names, msn, isMade, isSteady, seconds, renditionBytes });
      const kept = closed.filter(({ rendition }) => recordedIds.has(rendition.name));
      if (kept.length > 0) onRungs(kept);
    });
    this.branches = rungs.map((rung) => {
      const rendition = new LiveRendition(rung.id, discontinuitySequence, target, clock);
      const onClosed = this.#ledger.closed.bind(this.#ledger);
      const packager = new RenditionPackager(rendition, "rung", partTarget, memory, onClosed);
      const readers = new SessionFeed();
      feeds.push(new RungFeed(packager, readers));
      const playlist = new LivePlaylist(rendition, partTarget, siblings);
      return { rung, feed: readers, rendition, playlist };
    });
    const { admission, children, encoding } = settings;
    this.#transcoder = new LadderTranscoder({ clock, log, admission, children, encoding, source, rungs, feeds });
  }

  /** Rungs of a stream with these profiles; none if it plays as source only. */
  static plan(
    profiles: readonly LadderProfile[],
    isDefault: boolean,
    source: VideoTrack,
    forTargets: ReadonlySet<string>,
  ): Rung[] {
    return planLadder(profiles, isDefault, source, forTargets);
  }

  get status(): TranscodingStatus {
    return this.#transcoder.status;
  }

  /** The age of the oldest picture that was sent to the encoder and is not encoded. */
  get lagMs(): number {
    return this.#transcoder.lagMs;
  }

  /** Whether the rung is currently encoded. */
  isMaking({ index }: Rung): boolean {
    const { state } = this.#transcoder.status;
    return state !== "source-only" && state !== "off" && this.#transcoder.isMade(index);
  }

  /** The number of rungs that are not made because the machine is too slow for them. */
  get pausedRungs(): number {
    return this.#transcoder.pausedRungs;
  }

  /** The current state of the ladder. */
  get report(): TranscodingReport {
    const { status, lagMs } = this.#transcoder;
    const renditions = this.branches.map(({ rung: { index, name, width, height }, rendition }) => {
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
    this.#endNewest(cut.ticks);
    this.#newestMsn = cut.msn;
    this.#ledger.expect(cut.msn, this.branches.length);
    this.#transcoder.cut(cut);
  }

  sample(sample: Sample): void {
    if (this.#track && sample.kind === "video") this.#transcoder.sample(sample);
  }

  pause(ticks: number): void {
    this.#endNewest(ticks);
    this.#newestMsn = null;
    this.#transcoder.pause(ticks);
  }

  /** Segments in flight are completed, then the rungs' playlists end. */
  end(): void {
    this.#transcoder.end(() => {
      for (const { rendition, feed } of this.branches) {
        rendition.end();
        feed.end();
      }
      this.#ended.resolve();
    });
  }

  #endNewest(ticks: number): void {
    if (this.#newestMsn !== null) this.#ends.set(this.#newestMsn, ticks);
  }
}

/** True if the rung has bytes for all of the source's segment, apart from a last frame of unknown duration. */
function isWholeUntil({ init, startTicks, durationTicks }: LiveSegment, end: number): boolean {
  return init !== null && end - startTicks - durationTicks <= LAST_FRAME_TICKS;
}
