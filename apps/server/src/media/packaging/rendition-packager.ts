import { type FragmentSample, writeAudioFragment, writeVideoFragment } from "@weir/formats/mp4";
import { TICKS_PER_SECOND } from "../packet.ts";
import type { PageMemory } from "../page-memory.ts";
import { rescale, ticksToMs } from "../timeline/ticks.ts";
import type { Cut, Sample, TimelineSink } from "../timeline/timeline-sink.ts";
import type { LiveRendition } from "./live-rendition.ts";
import { type InitSegment, LiveSegment } from "./live-segment.ts";
import type { PartLimits, PartTarget } from "./part-target.ts";
import { samplesIn } from "./window-samples.ts";

/** A part with this many bytes is published early: 8 MiB in a third of a second are 200 Mbit/s. */
const MAX_PART_BYTES = 8 * 1024 * 1024;
const MAX_PART_SAMPLES = 1000;
/** More than this since the last IDR is not read again: a new reader is sooner with the next one. However small they are: a minute of 60 pictures a second. */
const MAX_REPLAY_BYTES = 16 * 1024 * 1024;
const MAX_REPLAY_SAMPLES = 3600;

/** How a rendition follows the timeline. `behind`: number of cuts that may wait for their first sample before the oldest becomes a gap. */
const PACES = {
  /** The source's own video: a cut takes effect at its next sample, so the previous segment is complete at once. */
  source: { isVideo: true, closesAtCut: true, behind: 1 },
  /** Only the next frame shows whether a frame is the last of its segment. */
  audio: { isVideo: false, closesAtCut: false, behind: 1 },
  /** Encoded from the source, so always a little later: the cut is known long before. */
  rung: { isVideo: true, closesAtCut: false, behind: 2 },
} as const;

export type RenditionPace = keyof typeof PACES;

/**
 * Turns one rendition's samples into parts and segments. A cut takes effect at the rendition's first sample at or after it. A cut without a
 * sample becomes a gap with the timeline's own duration, so that all renditions keep the same sequence numbers.
 */
export class RenditionPackager {
  readonly #rendition: LiveRendition;
  readonly #partTarget: PartTarget;
  readonly #partLimits: PartLimits;
  readonly #memory: PageMemory;
  readonly #pace: (typeof PACES)[RenditionPace];
  #isLost = false;
  readonly #onSegment: (rendition: LiveRendition, segment: LiveSegment) => void;
  #init: InitSegment | null = null;
  #timescale = TICKS_PER_SECOND;
  /** Cuts whose first sample has not arrived. */
  readonly #pending: Cut[] = [];
  #samples: Sample[] = [];
  /** How long after its decode time the first sample of the segment is shown. */
  #reorderTicks = 0;
  #partTicks = 0;
  #partBytes = 0;
  /** End of the newest published part of the open segment, by decode times; null before its first. */
  #publishedTicks: number | null = null;
  #fragment = 0;

  constructor(
    rendition: LiveRendition,
    pace: RenditionPace,
    partTarget: PartTarget,
    memory: PageMemory,
    onSegment: (rendition: LiveRendition, segment: LiveSegment) => void,
  ) {
    this.#rendition = rendition;
    this.#pace = PACES[pace];
    this.#partTarget = partTarget;
    this.#partLimits = this.#pace.isVideo ? partTarget : partTarget.audio;
    this.#memory = memory;
    this.#onSegment = onSegment;
  }

  /** How long after its decode time the first sample of the newest segment is shown. */
  get reorderTicks(): number {
    return this.#reorderTicks;
  }

  /** The init segment for the following samples; null while this rendition has no source. */
  useInit(init: InitSegment | null): void {
    this.#init = init;
    if (init) this.#timescale = init.timescale;
  }

  cut(cut: Cut): void {
    this.#pending.push(cut);
    if (this.#pending.length > (this.#isLost ? 1 : this.#pace.behind)) this.#skipOldest();
    if (this.#pace.closesAtCut || this.#isAway(cut)) this.#completeSegment();
    this.#expectNext();
  }

  sample(sample: Sample): void {
    while (this.#pending[1] && sample.time >= this.#ticks(this.#pending[1].ticks)) this.#skipOldest();
    const cut = this.#pending[0];
    if (cut && (this.#pace.closesAtCut || sample.time >= this.#ticks(cut.ticks))) this.#begin(cut, sample);
    if (!this.#rendition.open) return;
    this.#append(sample);
  }

  /** No sample follows for now: the open segment closes at `ticks`, and pending cuts become gaps up to there. */
  pause(ticks: number): void {
    this.#lastStandsUntil(ticks);
    this.#completeSegment();
    for (let cut = this.#pending.shift(); cut; cut = this.#pending.shift())
      this.#gap(cut, this.#pending[0]?.ticks ?? ticks);
    this.#expectNext();
  }

  /**
   * The next samples may continue without a discontinuity: the last picture is shown until then. The timeline has added silence after the last
   * audio.
   */
  #lastStandsUntil(ticks: number): void {
    const last = this.#samples.at(-1);
    if (!last || !this.#pace.isVideo) return;
    const missing = ticks - this.#reorderTicks - last.decodeTime - last.duration;
    if (missing <= 0) return;
    last.duration += missing;
    this.#partTicks += missing;
  }

  /** Publish the current content of the open part, because its source ends. */
  flushPart(): void {
    if (this.#rendition.open) this.#publishPart();
  }

  /** The source of the samples is gone: the open segment closes, and further cuts become gaps without delay. */
  lose(): void {
    this.#isLost = true;
    this.#completeSegment();
    while (this.#pending.length > 1) this.#skipOldest();
    this.#expectNext();
  }

  /** Samples arrive again. */
  regain(): void {
    this.#isLost = false;
  }

  /** No sample arrived for the oldest cut, and none will. */
  #skipOldest(): void {
    this.#completeSegment();
    const cut = this.#pending.shift();
    const next = this.#pending[0];
    if (cut && next) this.#gap(cut, next.ticks);
  }

  #begin(cut: Cut, first: Sample): void {
    this.#completeSegment();
    this.#pending.shift();
    this.#reorderTicks = first.time - first.decodeTime;
    this.#rendition.begin(
      new LiveSegment(
        {
          msn: cut.msn,
          timescale: this.#timescale,
          startTicks: first.time,
          programDateTimeMs: cut.programDateTimeMs + Math.round(this.#msBehind(cut, first)),
          discontinuity: cut.discontinuity,
          init: this.#init,
          ...(cut.isSlate && { isSlate: true }),
        },
        this.#memory,
      ),
    );
  }

  /** A frame of audio begins up to its duration behind the cut: with it, times and durations in the playlist agree. */
  #msBehind(cut: Cut, { time }: Sample): number {
    return ticksToMs(time - this.#ticks(cut.ticks), this.#timescale);
  }

  #append(sample: Sample): void {
    const last = this.#samples.at(-1);
    // The last sample was released early, with a guessed duration; now it is known.
    if (last && last.decodeTime + last.duration !== sample.decodeTime) {
      this.#partTicks += sample.decodeTime - last.decodeTime - last.duration;
      last.duration = sample.decodeTime - last.decodeTime;
    }
    const target = this.#targetTicks(sample);
    if (last && this.#partTicks + sample.duration > target) this.#publishPart();
    sample.data.retain();
    this.#samples.push(sample);
    this.#partTicks += sample.duration;
    this.#partBytes += sample.data.byteLength;
    const isFull = this.#partBytes >= MAX_PART_BYTES || this.#samples.length >= MAX_PART_SAMPLES;
    if (this.#isLast(sample)) this.#completeSegment();
    else if (isFull || (this.#pace.isVideo && this.#partTicks + sample.duration > target)) this.#publishPart();
  }

  /** A part and the end of its segment are published together, so that no playlist announces a part after the last. */
  #isLast({ decodeTime, duration }: Sample): boolean {
    const [cut] = this.#pending;
    return cut !== undefined && decodeTime + duration >= this.#ticks(cut.ticks);
  }

  /** Give `sink` the live window again from its last IDR on: each cut, then its samples. False, without a call, where there is no IDR. */
  replay(sink: Pick<TimelineSink, "cut" | "sample">): boolean {
    const { open, listed } = this.#rendition;
    const [next] = this.#pending;
    // Between a cut and its first sample, the complete segment is the newest.
    const newest = open ?? (next?.discontinuity === false ? listed.at(-1) : undefined);
    const init = newest?.init;
    const segments: [segment: LiveSegment, samples: readonly Sample[]][] = [];
    const total = { bytes: 0, frames: 0 };
    // Where keyframes are far apart, segments begin between them.
    for (const segment of open ? [open, ...listed.toReversed()] : listed.toReversed()) {
      total.bytes += segment.bytes;
      total.frames += segment.frames;
      if (!init || segment.storedInit?.name !== init.name) return false;
      if (total.bytes > MAX_REPLAY_BYTES || total.frames > MAX_REPLAY_SAMPLES) return false;
      const stored = samplesIn(segment.views, init.track.id);
      const samples = [...stored, ...(segment === open ? this.#samples : [])];
      segments.unshift([segment, samples]);
      const idr = samples.findLast(({ isIndependent }) => isIndependent);
      if (idr) {
        give(sink, segments, idr);
        for (const cut of this.#pending) sink.cut(cut);
        return true;
      }
      if (segment.discontinuity) return false;
    }
    return false;
  }

  /** The segment after the complete one. */
  #expectNext(): void {
    if (this.#rendition.open) return;
    const [cut] = this.#pending;
    const follows = cut && !this.#isLost && !this.#isAway(cut);
    this.#rendition.expect(follows ? cut.msn : null);
  }

  /** Audio makes the cuts after seconds without a picture. */
  #isAway({ byVideo }: Cut): boolean {
    return this.#pace.isVideo && !byVideo;
  }

  #targetTicks(sample: Sample): number {
    if (this.#pace.isVideo) this.#partTarget.decideByFrame(sample.duration / TICKS_PER_SECOND);
    // Half a millisecond of tolerance, because sources count in milliseconds.
    return ((this.#partLimits.seconds ?? Number.POSITIVE_INFINITY) + 0.0005) * this.#timescale;
  }

  #publishPart(): void {
    const samples = this.#samples;
    const [first] = samples;
    if (!first) return;
    const write = this.#pace.isVideo ? writeVideoFragment : writeAudioFragment;
    this.#rendition.publish(write(++this.#fragment, samples.map(fragmentSample)), {
      durationTicks: this.#partTicks,
      lateTicks: first.decodeTime - (this.#publishedTicks ?? first.decodeTime),
      frames: samples.length,
      isIndependent: first.isIndependent,
    });
    this.#publishedTicks = first.decodeTime + this.#partTicks;
    for (const { data } of samples) data.release();
    this.#samples = [];
    this.#partTicks = 0;
    this.#partBytes = 0;
  }

  #completeSegment(): void {
    if (!this.#rendition.open) return;
    this.#publishPart();
    this.#publishedTicks = null;
    const segment = this.#rendition.complete();
    this.#expectNext();
    this.#onSegment(this.#rendition, segment);
  }

  #gap(cut: Cut, endTicks: number): void {
    const { msn, programDateTimeMs, discontinuity, isSlate = false } = cut;
    const startTicks = this.#ticks(cut.ticks);
    const durationTicks = Math.max(0, this.#ticks(endTicks) - startTicks);
    const where = { msn, timescale: this.#timescale, startTicks, programDateTimeMs };
    const segment = new LiveSegment({ ...where, discontinuity, init: null, isSlate }, this.#memory, durationTicks);
    this.#rendition.gap(segment);
    this.#onSegment(this.#rendition, segment);
  }

  #ticks(ticks: number): number {
    return rescale(ticks, TICKS_PER_SECOND, this.#timescale);
  }
}

/** The segments from `idr` on, which is in the first. */
function give(
  sink: Pick<TimelineSink, "cut" | "sample">,
  segments: readonly [segment: LiveSegment, samples: readonly Sample[]][],
  idr: Sample,
): void {
  for (const [{ msn, startTicks, programDateTimeMs: startMs, discontinuity }, samples] of segments) {
    // Where the first picture is shown late, others of its segment are shown before it.
    const ticks = (samples[0]?.decodeTime ?? 0) + idr.time - idr.decodeTime;
    const programDateTimeMs = startMs - Math.round(ticksToMs(startTicks - ticks, TICKS_PER_SECOND));
    sink.cut({ msn, ticks, programDateTimeMs, discontinuity, byVideo: true });
    for (const sample of samples.slice(Math.max(0, samples.indexOf(idr)))) sink.sample(sample);
  }
}

function fragmentSample({ time, decodeTime, duration, isIndependent, data }: Sample): FragmentSample {
  return { time, decodeTime, duration, isIndependent, data: data.bytes };
}
