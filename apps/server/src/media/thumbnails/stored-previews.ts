import { buffer } from "node:stream/consumers";
import { readSamples } from "@weir/formats/mp4";
import type { Clock } from "../../platform/clock.ts";
import { Turns } from "../../platform/limits/turns.ts";
import type { StoredRendition, StoredSegment } from "../../ports/index.ts";
import type { StoredMedia } from "../stored/stored-media.ts";
import { KeptStills } from "./kept-stills.ts";
import type { PreviewMaker, PreviewPacket } from "./preview-maker.ts";
import { findKeyframe, readDecoder, type StoredKeyframe } from "./stored-keyframes.ts";

/** A client waits this long for a preview. */
const ANSWER_MS = 60_000;

/** Each preview uses one core for several seconds. */
const TURNS = { atATime: 2, maxWaiting: 8 } as const;
/** Ten seconds at 25 Mbit/s, all of which waits in the child's pipe. A preview of more data is shortened. */
const MAX_SOURCE_BYTES = 32 * 1024 * 1024;
const TICKS_PER_SECOND = 90_000;

export interface PreviewShape {
  /** Seconds from the start of the media. */
  readonly start: number;
  readonly end: number;
  readonly width: number;
  readonly frameRate: number;
}

/** A segment and its start on the player's timeline, in ticks of its rendition. */
interface Piece {
  readonly segment: StoredSegment;
  readonly shownAt: number;
}

/** Short animations of stored media, made on request and cached in memory. */
export class StoredPreviews {
  readonly #maker: Pick<PreviewMaker, "make">;
  readonly #kept: KeptStills;
  readonly #turns = new Turns(TURNS);

  constructor(maker: Pick<PreviewMaker, "make">, clock: Clock) {
    this.#maker = maker;
    this.#kept = new KeptStills(clock, ANSWER_MS);
  }

  /** An animated WebP. Null without video. Rejects with `TooManyWaiting`. */
  async of(media: StoredMedia, shape: PreviewShape): Promise<Uint8Array | null> {
    const first = findKeyframe(media.index, shape.start, shape.width);
    if (!first) return null;
    const { start, end, width, frameRate } = shape;
    const key = `${media.index.id} ${first.rendition.rendition} ${start} ${end} ${width} ${frameRate}`;
    return this.#kept.get(key, Number.POSITIVE_INFINITY, () => this.#turns.run(() => this.#make(media, first, shape)));
  }

  async #make(
    media: StoredMedia,
    first: StoredKeyframe,
    { start, end, width, frameRate }: PreviewShape,
  ): Promise<Uint8Array | null> {
    const decoder = await readDecoder(media, first);
    if (!decoder) return null;
    const config = Buffer.from(decoder.config).toString("base64");
    const shown = { fromTicks: Math.round(start * TICKS_PER_SECOND), toTicks: Math.round(end * TICKS_PER_SECOND) };
    const picture = { codec: decoder.codec, config, maxWidth: width, maxHeight: width, frameRate, ...shown };
    return this.#maker.make(picture, packetsOf(media, first.rendition, piecesOf(first, end)));
  }
}

async function* packetsOf(
  media: StoredMedia,
  { rendition, track }: StoredRendition,
  pieces: readonly Piece[],
): AsyncGenerator<PreviewPacket> {
  for (const { segment, shownAt } of pieces) {
    const { startTicks } = segment;
    const onPlayer = (ticks: number): number => ((ticks - startTicks + shownAt) * TICKS_PER_SECOND) / track.timescale;
    for (const sample of readSamples(await buffer(media.read(rendition, segment)))) {
      const { decodeTime, time, isIndependent, data } = sample;
      yield { type: "packet", isIndependent, dts: onPlayer(decodeTime), pts: onPlayer(time), data };
    }
  }
}

/** The segments to decode, from a keyframe to the end or to a change of the decoder configuration. */
function piecesOf({ rendition: { segments, track }, segment: first }: StoredKeyframe, endSeconds: number): Piece[] {
  const pieces: Piece[] = [];
  let [shownAt, bytes] = [0, 0];
  for (const segment of segments) {
    const isWanted = !segment.gap && segment.msn >= first.msn;
    if (isWanted && segment.init !== first.init) break;
    if (isWanted) bytes += segment.length;
    const isBehind = shownAt >= endSeconds * track.timescale || bytes > MAX_SOURCE_BYTES;
    if (pieces.length > 0 && isBehind) break;
    if (isWanted) pieces.push({ segment, shownAt });
    shownAt += segment.durationTicks;
  }
  return pieces;
}
