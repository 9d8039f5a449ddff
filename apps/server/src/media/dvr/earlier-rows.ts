import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { BackOff, sleep } from "../../platform/retry.ts";
import type { Slices } from "../../platform/slices.ts";
import type { MediaIndex, RecordedSegment, StoredRendition, StoredSegment, StoredTrack } from "../../ports/index.ts";
import { DvrList, type PlacedSegment } from "./dvr-list.ts";
import type { SessionDvr } from "./session-dvr.ts";

const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 5_000;

export interface EarlierMedia {
  readonly clock: Clock;
  readonly log: Log;
  readonly slices: Slices;
  readonly sessionId: string;
  /** What is in the spool. Called first: a chapter leaves the spool when the index has it. */
  readonly readSpool: () => Promise<readonly RecordedSegment[]>;
  /** What is in the object store; null if that is nothing. */
  readonly readIndex: () => Promise<MediaIndex | null>;
  /** Nobody needs it any more. */
  readonly signal: AbortSignal;
}

/** Reads what a session has from before this process had it, as often as that takes. Never rejects. */
export async function loadEarlier(dvr: SessionDvr, media: EarlierMedia): Promise<void> {
  const { clock, log, slices, sessionId, readSpool, readIndex, signal } = media;
  const backOff = new BackOff(FIRST_RETRY_MS, MAX_RETRY_MS);
  while (!signal.aborted) {
    // What was recorded before is in the spool, or in the index by now: nothing is kept from one try to the next.
    dvr.awaitEarlier();
    try {
      const spooled = await readSpool();
      const stored = (await readIndex())?.renditions ?? [];
      return await dvr.load(await earlierRows(slices, spooled, stored), slices);
    } catch (error) {
      const ms = backOff.next();
      if (ms === FIRST_RETRY_MS)
        log.warn({ err: error, sessionId }, "could not read what viewers can go back to; retrying");
      await sleep(clock, ms);
    }
  }
}

/** By rendition, in order. Chapters of the spool may be older than some that are in the store already. */
async function earlierRows(
  slices: Slices,
  spooled: readonly RecordedSegment[],
  stored: readonly StoredRendition[],
): Promise<Map<string, readonly PlacedSegment[]>> {
  const renditions = new Map<string, Map<number, PlacedSegment>>();
  const take = (rendition: string, segment: StoredSegment, track: StoredTrack): void => {
    const rows = renditions.get(rendition) ?? new Map<number, PlacedSegment>();
    renditions.set(rendition, rows);
    // A rung's index has gaps where its rows are not told yet.
    if ((rows.get(segment.msn)?.init ?? null) === null) rows.set(segment.msn, placedOf(segment, track));
  };
  for (const { rendition, segments, track } of stored)
    await slices.forEach(segments, (segment) => take(rendition, segment, track));
  await slices.forEach(spooled, ({ rendition, track, ...segment }) => take(rendition, segment, track));
  const sorted = new Map<string, readonly PlacedSegment[]>();
  const sort = ([name, rows]: readonly [string, ReadonlyMap<number, PlacedSegment>]): void => {
    sorted.set(
      name,
      [...rows.values()].toSorted((a, b) => a.msn - b.msn),
    );
  };
  await slices.forEach(renditions, sort, { lookEvery: 1 });
  return sorted;
}

/** The list of a rendition of which all is stored, ready to be written. */
export async function storedList(
  slices: Slices,
  { segments, track }: StoredRendition,
  windowSeconds: number,
): Promise<DvrList> {
  const list = new DvrList(windowSeconds);
  await slices.forEach(segments, (segment) => list.addPlaced(placedOf(segment, track)));
  await slices.forEach(list.unrendered(), (render) => render(), { lookEvery: 1 });
  return list;
}

function placedOf(segment: StoredSegment, { timescale }: StoredTrack): PlacedSegment {
  const {
    msn,
    startTicks,
    durationTicks,
    programDateTimeMs,
    discontinuity,
    isIndependent = false,
    gap,
    init,
  } = segment;
  const { epoch, span, offset, length, keyframeBytes } = segment;
  const seconds = durationTicks / timescale;
  const startSeconds = startTicks / timescale;
  const shown = { msn, startSeconds, seconds, programDateTimeMs, discontinuity, isIndependent: gap || isIndependent };
  return {
    ...shown,
    init: gap ? null : init,
    place: gap ? null : { epoch, span, offset, length, ...(keyframeBytes !== undefined && { keyframeBytes }) },
  };
}
