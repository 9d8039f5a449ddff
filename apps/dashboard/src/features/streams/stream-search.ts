import type { StreamListOptions } from "@weir/client";
import { textOf } from "../../shared/lib/search-text.ts";

/** The filters of the list of streams, as they are in the address. */
export interface StreamSearch {
  readonly name?: string;
  readonly state?: (typeof STATES)[number];
  readonly record?: (typeof RECORDS)[number];
  readonly created?: keyof typeof CREATED_DAYS;
  readonly sort?: StreamSort;
  readonly cursor?: string;
}

/** The fields that the list can be sorted by, in the API's names. A dash before a field means descending. */
export const SORT_FIELDS = ["name", "lastSeen", "createdAt"] as const;
export type SortField = (typeof SORT_FIELDS)[number];
export type StreamSort = SortField | `-${SortField}`;

export const STATES = ["active", "unhealthy", "idle", "suspended"] as const;
export const RECORDS = ["on", "off"] as const;
/** The number of days that each choice reaches back. */
export const CREATED_DAYS = { day: 1, week: 7, month: 30 } as const;
export const CREATED = Object.keys(CREATED_DAYS) as (keyof typeof CREATED_DAYS)[];

const DAY_MS = 86_400_000;
/** What is live comes first. Neither field changes during a broadcast, so that no row moves while somebody points at it. */
const LIVE_FIRST = [
  { field: "isActive", descending: true },
  { field: "createdAt", descending: true },
];
const SORTS: readonly StreamSort[] = SORT_FIELDS.flatMap((field): StreamSort[] => [field, `-${field}`]);

/** Reads an address; unknown values are left out. */
export function streamSearch(search: Record<string, unknown>): StreamSearch {
  const name = textOf(search.name);
  const cursor = textOf(search.cursor);
  const state = STATES.find((known) => known === search.state);
  const record = RECORDS.find((known) => known === search.record);
  const created = CREATED.find((known) => known === search.created);
  const sort = SORTS.find((known) => known === search.sort);
  return {
    ...(name && { name }),
    ...(state && { state }),
    ...(record && { record }),
    ...(created && { created }),
    ...(sort && { sort }),
    ...(cursor && { cursor }),
  };
}

/** The same question as the API asks it; `now` in milliseconds since the epoch. */
export function listOptionsOf(
  { name, state, record, created, sort, cursor }: StreamSearch,
  now: number,
): StreamListOptions {
  return {
    name,
    cursor,
    // A suspended stream is idle too, but it reads "Suspended".
    active: state === "active" ? true : state === "idle" ? false : undefined,
    healthy: state === "unhealthy" ? false : undefined,
    orderBy: sort ? { field: sort.replace("-", ""), descending: sort.startsWith("-") } : LIVE_FIRST,
    suspended: state === "suspended" ? true : state === "idle" ? false : undefined,
    record: record && record === "on",
    createdSince: created && now - CREATED_DAYS[created] * DAY_MS,
  };
}

export function isNarrowed({ cursor: _, sort: __, ...filters }: StreamSearch): boolean {
  return Object.keys(filters).length > 0;
}
