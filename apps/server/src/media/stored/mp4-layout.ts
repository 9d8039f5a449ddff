import { type FragmentEdit, jointInit, segmentIndexes } from "@weir/formats/mp4";
import type { StoredSegment } from "../../ports/index.ts";
import type { Mp4Track } from "./mp4-track.ts";

/** The fragments of one segment of one track. */
export interface Placed extends FragmentEdit {
  readonly rendition: string;
  readonly segment: StoredSegment;
}

/** The audio of one piece. Audio is cut slightly ahead of the video. */
export interface Sound {
  readonly own: Placed;
  readonly timescale: number;
  /** Frames that end after this time of the file are moved to the next piece. */
  untilTicks: number | null;
  /** The previous piece, whose last frames are moved here. */
  readonly before: Sound | null;
}

/** A piece of the file: a video segment with its audio, or a segment of a single track. */
export interface Piece {
  readonly first: Placed;
  readonly sound: Sound | null;
  /** Offset after the head. */
  readonly at: number;
  readonly bytes: number;
}

interface TrackState {
  readonly nth: number;
  readonly track: Mp4Track;
  readonly starts: number[];
  next: number;
  endTicks: number;
}

/** Longer gaps of the timeline, from a server restart or lost media, are removed from the file. */
const LONGEST_HOLE_SECONDS = 1;
/** More than any segment has: parts of a third of a second, and at most 4,000 samples. */
const MAX_FRAGMENTS_PER_SEGMENT = 4096;
/** Audio next to video is read completely before it; a larger amount is written after the video as a separate piece. */
const MAX_SOUND_BYTES = 256 * 1024;
/** How much earlier audio starts than the picture of its piece, since a picture may be decoded before it is shown. */
const SOUND_AHEAD_SECONDS = 0.1;
/** Minimum audio that stays in its piece; a piece without audio would be no fragment. */
const MIN_SOUND_SECONDS = 0.25;
/** Reserve for frames larger than the average of their segment. */
const SPARE_BYTES = 1024;

/** The layout of the file after the head. The first track leads: segments it does not have are not in the file. */
export class Mp4Layout {
  readonly pieces: Piece[] = [];
  bytes = 0;
  readonly #tracks: readonly TrackState[];
  readonly #segmentBytes: number[] = [];
  /** In the timescale of the leading track, like all values without a track's name. */
  #leftOutTicks = 0;
  #endTicks = 0;

  constructor(tracks: readonly Mp4Track[]) {
    this.#tracks = tracks.map((track, nth) => ({ nth, track, starts: [], next: 0, endTicks: 0 }));
  }

  add(leading: StoredSegment): void {
    const [lead, other] = this.#tracks;
    // Audio continues where there is no picture, but not next to pictures of another codec, which the file cannot contain.
    if (!lead || (!leading.gap && !lead.track.holds(leading))) return;
    const { timescale } = lead.track;
    const holeTicks = leading.startTicks - this.#endTicks;
    const longest = LONGEST_HOLE_SECONDS * timescale;
    // The first picture is decoded before it is shown, and decode times cannot be negative.
    const kept = this.pieces.length === 0 ? longest : 0;
    const leftOut = this.#leftOutTicks + (holeTicks > longest ? holeTicks - kept : 0);
    const first = this.#place(lead, leading.msn, leftOut / timescale);
    const sound = other ? this.#place(other, leading.msn, leftOut / timescale) : null;
    if (!first && !sound) return;
    this.#leftOutTicks = leftOut;
    this.#endTicks = leading.startTicks + leading.durationTicks;
    const [startTicks, endTicks] = [leading.startTicks - leftOut, this.#endTicks - leftOut];
    note(lead, startTicks, endTicks);
    const before = this.bytes;
    const startSeconds = startTicks / timescale;
    if (first && sound && bytesOf(sound) <= MAX_SOUND_BYTES) this.#putTogether(first, sound, startSeconds);
    else {
      for (const placed of [first, sound]) if (placed) this.#put(placed, null, bytesOf(placed));
      if (other) noteOwn(other, sound, startSeconds);
    }
    this.#segmentBytes.push(this.bytes - before);
  }

  #putTogether(first: Placed, own: Placed, startSeconds: number): void {
    const [, other] = this.#tracks;
    if (!other) return;
    const before = this.pieces.at(-1)?.sound ?? null;
    const { timescale } = other.track;
    const aheadTicks = Math.floor((startSeconds - SOUND_AHEAD_SECONDS) * timescale);
    const isLeft = before && aheadTicks - startOf(before.own) >= MIN_SOUND_SECONDS * timescale;
    if (!isLeft || !goesOn(before.own, own)) {
      this.#put(first, { own, timescale, untilTicks: null, before: null }, bytesOf(first) + bytesOf(own));
      noteOwn(other, own, startSeconds);
      return;
    }
    before.untilTicks = aheadTicks;
    const bytes = bytesOf(first) + bytesOf(own) + roomBehind(before.own.segment, timescale);
    this.#put(first, { own, timescale, untilTicks: null, before }, bytes);
    note(other, aheadTicks, endOf(own));
  }

  #put(first: Placed, sound: Sound | null, bytes: number): void {
    this.pieces.push({ first, sound, at: this.bytes, bytes });
    this.bytes += bytes;
  }

  /** A track's segment with this number; null if the file does not have it. */
  #place(state: TrackState, msn: number, leftOutSeconds: number): Placed | null {
    const { track } = state;
    const segment = nextOf(state, msn);
    if (!segment || !track.holds(segment)) return null;
    return {
      rendition: track.stored.rendition,
      segment,
      sequence: (2 * this.pieces.length + state.nth) * MAX_FRAGMENTS_PER_SEGMENT,
      earlierTicks: Math.round(leftOutSeconds * track.timescale),
      prefix: track.prefixOf(segment),
    };
  }

  head(): Uint8Array {
    const seconds = Math.max(...this.#tracks.map(({ track, endTicks }) => endTicks / track.timescale));
    const indexes = this.#tracks.map(({ track, starts, endTicks }) => {
      const { id: trackId, timescale } = track;
      return { trackId, timescale, starts, endTicks, isIndependent: true };
    });
    const init = jointInit(
      this.#tracks.map(({ track }) => track.joint),
      seconds,
    );
    // A copy: it is kept, and a small buffer keeps all that it was cut from.
    return new Uint8Array(Buffer.concat([init, segmentIndexes(indexes, this.#segmentBytes)]));
  }
}

export function bytesOf({ segment, prefix }: Placed): number {
  return segment.length + prefix.byteLength;
}

/** Bytes that a piece reserves for the last frames of the previous piece. */
export function roomBehind({ length, durationTicks }: StoredSegment, timescale: number): number {
  return SPARE_BYTES + Math.ceil((1.5 * length * SOUND_AHEAD_SECONDS * timescale) / durationTicks);
}

/** The segment with this number. Both lists are sorted. */
function nextOf(state: TrackState, msn: number): StoredSegment | undefined {
  const { segments } = state.track.stored;
  while ((segments[state.next]?.msn ?? msn) < msn) state.next++;
  const segment = segments[state.next];
  return segment?.msn === msn ? segment : undefined;
}

function goesOn(before: Placed, own: Placed): boolean {
  return own.earlierTicks === before.earlierTicks && startOf(own) === endOf(before);
}

function startOf({ segment, earlierTicks }: Placed): number {
  return segment.startTicks - earlierTicks;
}

function endOf(placed: Placed): number {
  return startOf(placed) + placed.segment.durationTicks;
}

function noteOwn(state: TrackState, placed: Placed | null, startSeconds: number): void {
  const startTicks = Math.round(startSeconds * state.track.timescale);
  if (placed) note(state, startOf(placed), endOf(placed));
  else note(state, startTicks, startTicks);
}

function note(state: TrackState, startTicks: number, endTicks: number): void {
  state.starts.push(startTicks);
  state.endTicks = endTicks;
}
