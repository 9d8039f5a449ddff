import { BadRequest } from "./api-error.ts";
import type { RawQuery } from "./list-query.ts";

export type Step = "hour" | "day" | "week" | "month" | "year";

const STEPS: readonly Step[] = ["hour", "day", "week", "month", "year"];
const RFC3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;
/** The latest time that a JavaScript Date can hold. */
const LATEST_MS = 8.64e15;

/** A span of time in milliseconds since the Unix epoch: `from` is inclusive, `to` exclusive. */
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
    throw new BadRequest(`${name} must be milliseconds since the Unix epoch, or a time like 2026-01-31T12:00:00Z`);
  return at;
}
