import type { StreamListOptions } from "@weir/client";

/** What the list of streams is narrowed to, as it stands in the address. */
export interface StreamSearch {
  readonly name?: string;
  readonly state?: (typeof STATES)[number];
  readonly record?: (typeof RECORDS)[number];
  readonly created?: keyof typeof CREATED_DAYS;
  readonly cursor?: string;
}

export const STATES = ["active", "idle", "suspended"] as const;
export const RECORDS = ["on", "off"] as const;
/** How many days back each choice reaches. */
export const CREATED_DAYS = { day: 1, week: 7, month: 30 } as const;
export const CREATED = Object.keys(CREATED_DAYS) as (keyof typeof CREATED_DAYS)[];

const DAY_MS = 86_400_000;

/** Reads an address; whatever it does not know is left out. */
export function streamSearch(search: Record<string, unknown>): StreamSearch {
  const name = textOf(search.name);
  const cursor = textOf(search.cursor);
  const state = STATES.find((known) => known === search.state);
  const record = RECORDS.find((known) => known === search.record);
  const created = CREATED.find((known) => known === search.created);
  return {
    ...(name && { name }),
    ...(state && { state }),
    ...(record && { record }),
    ...(created && { created }),
    ...(cursor && { cursor }),
  };
}

/** The same question as the API asks it; `now` in milliseconds since the epoch. */
export function listOptionsOf({ name, state, record, created, cursor }: StreamSearch, now: number): StreamListOptions {
  return {
    name,
    cursor,
    // A suspended stream is idle too, but it reads "Suspended".
    active: state === "active" ? true : state === "idle" ? false : undefined,
    suspended: state === "suspended" ? true : state === "idle" ? false : undefined,
    record: record && record === "on",
    createdSince: created && now - CREATED_DAYS[created] * DAY_MS,
  };
}

export function isNarrowed({ cursor: _, ...filters }: StreamSearch): boolean {
  return Object.keys(filters).length > 0;
}

/** The router reads `?name=12` as a number; to us every text is a text. */
export function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
