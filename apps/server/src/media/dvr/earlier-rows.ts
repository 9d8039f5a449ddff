import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { BackOff, sleep } from "../../platform/retry.ts";
import type { Slices } from "../../platform/slices.ts";
import type {
  RecordedSegment,
  SealedSegments,
  StoredRendition,
  StoredSegment,
  StoredTrack,
} from "../../ports/index.ts";
import { DvrList, type PlacedSegment } from "./dvr-list.ts";
import { PlacedRows } from "./placed-rows.ts";
import type { SessionDvr } from "./session-dvr.ts";

const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 5_000;

/** Some at a time. */
type Some<Rows> = AsyncIterable<Rows> | readonly Rows[];

export interface EarlierMedia {
  readonly clock: Clock;
  readonly log: Log;
  readonly slices: Slices;
  readonly sessionId: string;
  /** What is in the spool. Read first: a chapter leaves the spool when the store has it. */
  readonly readSpool: () => Some<readonly RecordedSegment[]>;
  /** What is in the object store. */
  readonly readStore: () => Some<SealedSegments>;
  /** Nobody needs it any more. */
  readonly signal: AbortSignal;
}

/** Reads what a session has from before this process had it, as often as that takes. Never rejects. */
export async function loadEarlier(dvr: SessionDvr, media: EarlierMedia): Promise<void> {
  const { clock, log, slices, sessionId, signal } = media;
  const backOff = new BackOff(FIRST_RETRY_MS, MAX_RETRY_MS);
  while (!signal.aborted) {
    // What was recorded before is in the spool, or in the store by now: nothing is kept from one try to the next.
    dvr.awaitEarlier();
    try {
      return await dvr.load(await earlierRows(media), slices);
    } catch (error) {
      const ms = backOff.next();
      if (ms === FIRST_RETRY_MS)
        log.warn({ err: error, sessionId }, "could not read what viewers can go back to; retrying");
      await sleep(clock, ms);
    }
  }
}

/** By rendition. Chapters of the spool may be older than some that are in the store already. */
async function earlierRows({ slices, readSpool, readStore }: EarlierMedia): Promise<Map<string, PlacedRows>> {
  const renditions = new Map<string, PlacedRows>();
  const rowsOf = (rendition: string): PlacedRows => {
    const rows = renditions.get(rendition) ?? new PlacedRows();
    renditions.set(rendition, rows);
    return rows;
  };
  for await (const chapter of readSpool())
    await slices.forEach(chapter, (row) => rowsOf(row.rendition).add(placedOf(row, row.track)));
  // A rung has gaps in the store where its rows are not told yet.
  for await (const { rendition, track, segments } of readStore())
    await slices.forEach(segments, (segment) => rowsOf(rendition).add(placedOf(segment, track)));
  return renditions;
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
