import type { SessionListOptions } from "@weir/client";
import { textOf } from "../../shared/lib/search-text.ts";

/** The filters of the list of sessions, as they are in the address. */
export interface SessionSearch {
  readonly streamId?: string;
  readonly created?: (typeof SESSION_DATES)[number];
  readonly cursor?: string;
}

export const SESSION_DATES = ["day", "week", "month"] as const;
const DAYS = { day: 1, week: 7, month: 30 } as const;
const DAY_MS = 86_400_000;

/** Reads an address; unknown values are left out. */
export function sessionSearch(search: Record<string, unknown>): SessionSearch {
  const streamId = textOf(search.streamId);
  const cursor = textOf(search.cursor);
  const created = SESSION_DATES.find((known) => known === search.created);
  return { ...(streamId && { streamId }), ...(created && { created }), ...(cursor && { cursor }) };
}

/** The same question as the API asks it; `now` in milliseconds since the epoch. */
export function sessionOptionsOf({ streamId, created, cursor }: SessionSearch, now: number): SessionListOptions {
  return { streamId, cursor, createdSince: created && now - DAYS[created] * DAY_MS };
}
