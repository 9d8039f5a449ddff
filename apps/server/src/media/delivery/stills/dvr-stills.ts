import { ObjectNotFound } from "../../../platform/storage/object-store.ts";
import type { ListedSegment } from "../../dvr/dvr-list.ts";
import type { SessionDvr } from "../../dvr/session-dvr.ts";
import { readFirst } from "../../stored/session-media.ts";
import {
  type ImageShape,
  type Keyframe,
  keyframeIn,
  type Moment,
  momentsApart,
  momentsText,
  type Stills,
} from "../../thumbnails/index.ts";
import type { LiveSource } from "../live-source.ts";

/** More than any keyframe, even at 100 Mbit/s. */
const LAST_BYTE = 4 * 1024 * 1024 - 1;

/** Pictures for the seek bar of a live stream: of the moments that viewers can go back to. */
export class DvrStills {
  readonly #stills: Pick<Stills, "of">;

  constructor(stills: Pick<Stills, "of">) {
    this.#stills = stills;
  }

  /** The moments that have a picture now, as WebVTT; null without any. */
  list(source: LiveSource, dvr: SessionDvr, query: string): string | null {
    const rendition = pictured(source, dvr);
    const moments: readonly Moment[] = rendition === null ? [] : dvr.moments(rendition, momentsApart);
    return moments.length > 0 ? momentsText(moments, (msn) => `s/${source.sessionId}/${msn}.jpg${query}`) : null;
  }

  /** The picture at the beginning of a segment. Null if there is none. Rejects with `TooManyWaiting`. */
  async at(source: LiveSource, dvr: SessionDvr, msn: number, shape: ImageShape): Promise<Uint8Array | null> {
    const rendition = pictured(source, dvr);
    const segment = rendition === null ? null : dvr.listed(rendition, msn);
    if (rendition === null || !segment?.isIndependent) return null;
    return this.#stills.of(`${source.sessionId} ${rendition} ${msn}`, () => keyframeOf(dvr, rendition, segment), shape);
  }
}

async function keyframeOf(dvr: SessionDvr, rendition: string, segment: ListedSegment): Promise<Keyframe | null> {
  const { msn, init, place } = segment;
  const live = dvr.inWindow(rendition, msn);
  // A copy, because the segment's memory is reused.
  if (live?.segment.init) return keyframeIn(live.segment.init.bytes, [Buffer.concat(live.bytes)]);
  if (!place || init === null) return null;
  const row = { ...segment, ...place, init, startTicks: 0, durationTicks: 0, gap: false };
  const range = { start: 0, end: Math.min(LAST_BYTE, place.length - 1) };
  const bytes = readFirst(`${rendition}/${msn}`, dvr.sources, (from) => from.read(rendition, row, range));
  try {
    const decoder = await initOf(dvr, rendition, init);
    return decoder && (await keyframeIn(decoder, bytes));
  } catch (error) {
    if (error instanceof ObjectNotFound) return null;
    throw error;
  }
}

async function initOf(dvr: SessionDvr, rendition: string, init: string): Promise<Uint8Array | null> {
  for (const source of dvr.sources) {
    const bytes = await source.readInit(rendition, init);
    if (bytes) return bytes;
  }
  return null;
}

/** The smallest rendition with pictures that viewers can go back in. */
function pictured({ outputs }: LiveSource, dvr: SessionDvr): string | null {
  const found = outputs.listed.flatMap(({ rendition: { name }, track }) =>
    track.kind === "video" && dvr.has(name) ? [{ name, width: track.width }] : [],
  );
  return found.toSorted((a, b) => a.width - b.width)[0]?.name ?? null;
}
