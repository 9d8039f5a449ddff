import { BadRequest, type RawQuery, textOf } from "../api/index.ts";
import { isId } from "../ids.ts";
import { assetSubject, streamSubject } from "../subject.ts";
import type { Dimension, Step, ViewsOf } from "./view-store.ts";

const STEPS: readonly Step[] = ["hour", "day", "week", "month", "year"];
const DIMENSIONS: readonly Dimension[] = ["playbackId", "creatorId"];
const RFC3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;
/** The latest moment that a JavaScript date can be. */
const LATEST_MS = 8.64e15;

/** Whose views are asked for. Throws `BadRequest` for an id that cannot be one. */
export function parseViewsOf(query: RawQuery): ViewsOf {
  const [streamId, assetId] = [textOf(query.streamId), textOf(query.assetId)];
  for (const [name, id] of Object.entries({ streamId, assetId }))
    if (id !== undefined && !isId(id)) throw new BadRequest(`${name} is no id`);
  const subjects = [
    ...(streamId === undefined ? [] : [streamSubject(streamId)]),
    ...(assetId === undefined ? [] : [assetSubject(assetId)]),
  ];
  return { playbackId: textOf(query.playbackId), subjects, creatorId: textOf(query.creatorId) };
}

/** `breakdownBy`, `breakdownBy[]`, repeated or with commas. Throws `BadRequest` for what is not known of viewers here. */
export function parseDimensions(query: RawQuery): Dimension[] {
  const given = [query.breakdownBy, query["breakdownBy[]"]].flat().filter((value) => value !== undefined);
  const names = new Set(given.flatMap((value) => String(value).split(",")).map((name) => name.trim()));
  return [...names].map((name) => {
    const known = DIMENSIONS.find((dimension) => dimension === name);
    if (!known) throw new BadRequest(`breakdownBy takes ${DIMENSIONS.join(" and ")}: nothing else of viewers is kept`);
    return known;
  });
}

export interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly step: Step | null;
}

/** `from`, `to` and `timeStep`. Throws `BadRequest`. */
export function parseStretch(query: RawQuery, now: number): Stretch {
  const from = parseTime("from", query.from) ?? 0;
  const to = parseTime("to", query.to) ?? now + 1;
  if (from > to) throw new BadRequest("from is after to");
  if (query.timeStep === undefined) return { from, to, step: null };
  const step = STEPS.find((name) => name === query.timeStep);
  if (!step) throw new BadRequest(`timeStep is one of ${STEPS.join(", ")}`);
  return { from, to, step };
}

function parseTime(name: string, value: unknown): number | undefined {
  if (value === undefined || value === "") return undefined;
  const text = String(value);
  const at = /^\d{1,16}$/.test(text) ? Number(text) : RFC3339.test(text) ? Date.parse(text) : Number.NaN;
  if (!(at >= 0 && at <= LATEST_MS))
    throw new BadRequest(`${name} is neither milliseconds since 1970 nor a time like 2026-01-31T12:00:00Z`);
  return at;
}
