import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { BackOff, sleep } from "../../platform/retry.ts";
import type { MediaIndex, RecordedSegment, StoredRendition, StoredSegment, StoredTrack } from "../../ports/index.ts";
import { DvrList, type PlacedSegment } from "./dvr-list.ts";
import type { SessionDvr } from "./session-dvr.ts";

const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 5_000;

export interface EarlierMedia {
  readonly clock: Clock;
  readonly log: Log;
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
  const { clock, log, sessionId, readSpool, readIndex, signal } = media;
  const backOff = new BackOff(FIRST_RETRY_MS, MAX_RETRY_MS);
  while (!signal.aborted) {
    // What was recorded before is in the spool, or in the index by now: nothing is kept from one try to the next.
    dvr.awaitEarlier();
    try {
      const spooled = await readSpool();
      return dvr.load(earlierRows(spooled, (await readIndex())?.renditions ?? []));
    } catch (error) {
      const ms = backOff.next();
      if (ms === FIRST_RETRY_MS)
        log.warn({ err: error, sessionId }, "could not read what viewers can go back to; retrying");
      await sleep(clock, ms);
    }
  }
}

/** By rendition, in order. Chapters of the spool may be older than some that are in the store already. */
function earlierRows(
  spooled: readonly RecordedSegment[],
  stored: readonly StoredRendition[],
): Map<string, readonly PlacedSegment[]> {
  const renditions = new Map<string, Map<number, PlacedSegment>>();
  const take = (rendition: string, segment: StoredSegment, track: StoredTrack): void => {
    const rows = renditions.get(rendition) ?? new Map<number, PlacedSegment>();
    renditions.set(rendition, rows);
    // A rung's index has gaps where its rows are not told yet.
    if ((rows.get(segment.msn)?.init ?? null) === null) rows.set(segment.msn, placedOf(segment, track));
  };
  for (const { rendition, segments, track } of stored) for (const segment of segments) take(rendition, segment, track);
  for (const { rendition, track, ...segment } of spooled) take(rendition, segment, track);
  return new Map(
    [...renditions].map(([name, rows]) => [name, [...rows.values()].toSorted((a, b) => a.msn - b.msn)] as const),
  );
}

/** The list of a rendition of which all is stored. */
export function storedList({ segments, track }: StoredRendition, windowSeconds: number): DvrList {
  const list = new DvrList(windowSeconds);
  for (const segment of segments) list.addPlaced(placedOf(segment, track));
  return list;
}

function placedOf(segment: StoredSegment, { timescale }: StoredTrack): PlacedSegment {
  const { msn, durationTicks, programDateTimeMs, discontinuity, isIndependent = false, gap, init } = segment;
  const { epoch, span, offset, length } = segment;
  const seconds = durationTicks / timescale;
  const shown = { msn, seconds, programDateTimeMs, discontinuity, isIndependent: gap || isIndependent };
  return { ...shown, init: gap ? null : init, place: gap ? null : { epoch, span, offset, length } };
}
