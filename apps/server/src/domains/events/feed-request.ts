import { BadRequest, isSet, type RawQuery } from "../api/index.ts";

/** The request of a feed reader. */
export interface FeedRequest {
  /** Null to receive only live events. */
  readonly from: number | null;
  readonly to: number | null;
  /** Overrides `from`. */
  readonly lastEventId: string | null;
  readonly mustFindLast: boolean;
  /** Wait of a long poll. */
  readonly maxWaitMs: number;
}

/** A smaller value was meant in seconds: 10^11 ms is 1973. */
const MIN_MS = 100_000_000_000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const DEFAULT_WAIT_SECONDS = 10;
const MAX_WAIT_SECONDS = 60;

/** Parse the feed's query and `Last-Event-ID`, which overrides the one in the query. Throws `BadRequest`. */
export function parseFeedRequest(query: RawQuery, lastEventIdHeader: string | undefined, now: number): FeedRequest {
  const from = timeOf(query, "from");
  const to = timeOf(query, "to");
  const lastEventId = lastEventIdHeader || query.lastEventId || null;
  if (lastEventId !== null && (typeof lastEventId !== "string" || !UUID.test(lastEventId)))
    throw new BadRequest("the last event id is not the id of an event: give one as the feed sent it");
  if (to !== null && from === null && lastEventId === null)
    throw new BadRequest("to needs from: give both, or leave to out to stay connected");
  if (from !== null && to !== null && from > to) throw new BadRequest("from is after to: give an earlier from");
  return {
    from: from !== null && from > now ? null : from,
    to,
    lastEventId: lastEventId?.toLowerCase() ?? null,
    mustFindLast: isSet(query.mustFindLast),
    maxWaitMs: waitOf(query) * 1000,
  };
}

function timeOf(query: RawQuery, name: "from" | "to"): number | null {
  const text = query[name];
  if (text === undefined || text === "") return null;
  if (typeof text !== "string" || !/^\d{1,15}$/.test(text))
    throw new BadRequest(`${name} must be a whole number of milliseconds since the Unix epoch`);
  const time = Number(text);
  if (time < MIN_MS) throw new BadRequest(`${name} is too small: milliseconds expected, not seconds`);
  return time;
}

function waitOf({ pollMaxWaitSec: text }: RawQuery): number {
  if (text === undefined) return DEFAULT_WAIT_SECONDS;
  if (typeof text !== "string" || !/^\d{1,4}$/.test(text))
    throw new BadRequest(`pollMaxWaitSec must be a whole number of seconds from 0 to ${MAX_WAIT_SECONDS}`);
  return Math.min(Number(text), MAX_WAIT_SECONDS);
}
