import type { SessionFeed } from "../feed/session-feed.ts";
import type { InitSegment } from "../packaging/live-segment.ts";
import type { RenditionPackager } from "../packaging/rendition-packager.ts";
import { Payload, VIDEO_TRACK, type VideoTrack } from "../packet.ts";
import type { Cut, Sample } from "../timeline/timeline-sink.ts";
import type { EncodedPicture } from "../transcode/index.ts";

/** A transcoder is at most a few segments behind. */
const MAX_NEXT_CUTS = 8;

/**
 * Passes a rung's encoded pictures to its packager and to the readers of its feed. Holds one back, because only the next one reveals its
 * duration.
 */
export class RungFeed {
  readonly #packager: RenditionPackager;
  readonly #readers: SessionFeed;
  #held: Sample | null = null;
  /** Starts of the segments after the newest picture, in 90 kHz ticks. */
  readonly #nextCuts: number[] = [];
  #frameTicks = 3000;
  #init: InitSegment | null = null;
  /** Parameter sets changed inside a segment: the rest of it is unusable. */
  #waitsForCut = false;
  #track: VideoTrack | null = null;
  /** The readers know the track. */
  #isTold = false;
  #endTicks = 0;

  constructor(packager: RenditionPackager, readers: SessionFeed) {
    this.#packager = packager;
    this.#readers = readers;
  }

  /** End of the pictures passed on, in 90 kHz ticks. */
  get endTicks(): number {
    return this.#endTicks;
  }

  useTrack(track: VideoTrack, init: InitSegment): void {
    this.#waitsForCut = this.#init !== null && this.#init.name !== init.name;
    this.#init = init;
    this.#packager.useInit(init);
    this.#track = track;
    this.#isTold = false;
  }

  cut(cut: Cut): void {
    this.#nextCuts.push(cut.ticks);
    // The first two decide about the newest picture.
    if (this.#nextCuts.length > MAX_NEXT_CUTS) this.#nextCuts.splice(2, 1);
    this.#packager.cut(cut);
  }

  packet({ pts, isIndependent, data }: EncodedPicture, isFirstOfSegment: boolean): void {
    if (isFirstOfSegment) this.#waitsForCut = false;
    // Behind what is already published: a restarted child began a little early.
    if (this.#waitsForCut || pts < this.#endTicks) return;
    const before = this.#held;
    if (before) {
      before.duration = this.#endOfHeld(pts) - before.time;
      this.#frameTicks = before.duration;
      this.#handOn(before);
    }
    const times = { time: pts, decodeTime: pts, duration: 0 };
    this.#held = { trackId: VIDEO_TRACK, kind: "video", ...times, isIndependent, data: new Payload(data) };
    for (let [cut] = this.#nextCuts; cut !== undefined && cut <= pts; [cut] = this.#nextCuts) this.#nextCuts.shift();
  }

  /** The held picture stands until the next one; until the end of its segment if the segment after that was skipped, which becomes a gap. */
  #endOfHeld(nextPts: number): number {
    const [end, endOfSkipped] = this.#nextCuts;
    return end !== undefined && endOfSkipped !== undefined && endOfSkipped <= nextPts ? end : nextPts;
  }

  /** Nothing follows the held picture: release it with the previous duration, and publish the open part. */
  flush(): void {
    this.#release();
    this.#packager.flushPart();
  }

  /** No more pictures: gaps follow. */
  lose(): void {
    this.flush();
    this.#packager.lose();
  }

  regain(): void {
    this.#packager.regain();
  }

  /** Nothing follows for now: everything up to `ticks` is published, and what still comes of it is too late. */
  pause(ticks: number): void {
    this.#release();
    this.#endTicks = Math.max(this.#endTicks, ticks);
    this.#packager.pause(ticks);
    this.#readers.pause(ticks);
    this.#isTold = false;
  }

  #release(): void {
    const held = this.#held;
    this.#held = null;
    if (!held) return;
    held.duration = this.#frameTicks;
    this.#handOn(held);
  }

  #handOn(sample: Sample): void {
    this.#endTicks = sample.time + sample.duration;
    this.#packager.sample(sample);
    if (!this.#isTold && this.#track) this.#readers.stretch([this.#track]);
    this.#isTold = true;
    this.#readers.sample(sample);
  }
}
