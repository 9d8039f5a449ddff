import { existsSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import {
  EventGapEvent,
  MediaServerMetricsEvent,
  routes,
  StreamIssueEvent,
  StreamStateEvent,
  TranscodeEvent,
  WebhookEvent,
} from "./index.ts";

const SNAPSHOT = new URL("./contract.snap", import.meta.url);

/** Everything that is promised, as plain JSON. */
const contract = JSON.parse(
  JSON.stringify({
    routes,
    events: {
      StreamStateEvent,
      MediaServerMetricsEvent,
      TranscodeEvent,
      WebhookEvent,
      StreamIssueEvent,
      EventGapEvent,
    },
  }),
);

const kept = existsSync(SNAPSHOT) ? JSON.parse(readFileSync(SNAPSHOT, "utf8")) : {};

/** Paths at which `now` no longer has what `before` had. Words for people may change; lists may grow; requests may need fewer fields. */
function losses(before: unknown, now: unknown, path: string): string[] {
  if (/\.(summary|description)$|\.body\b.*\.required$/.test(path)) return [];
  if (Array.isArray(before)) {
    const present = Array.isArray(now) ? now.map((item) => JSON.stringify(item)) : [];
    if (path.endsWith(".anyOf"))
      return before.flatMap((item, i) => losses(item, (now as unknown[])?.[i], `${path}.${i}`));
    return before
      .filter((item) => !present.includes(JSON.stringify(item)))
      .map((item) => `${path}: ${JSON.stringify(item)}`);
  }
  if (typeof before === "object" && before !== null) {
    return Object.entries(before).flatMap(([key, value]) =>
      losses(value, (now as Record<string, unknown> | undefined)?.[key], `${path}.${key}`),
    );
  }
  return before === now ? [] : [`${path}: was ${JSON.stringify(before)}, is ${JSON.stringify(now)}`];
}

it("nothing that the contract promised is taken back", () => {
  expect(losses(kept, contract, "contract")).toEqual([]);
});

it("the contract is the one on record; run vitest with -u to record an addition", async () => {
  await expect(`${JSON.stringify(contract, null, 2)}\n`).toMatchFileSnapshot(SNAPSHOT.pathname);
});

it("a promise taken back is told by its path", () => {
  expect(losses({ a: { b: [1, 2] } }, { a: { b: [2, 3] } }, "x")).toEqual(["x.a.b: 1"]);
  expect(losses({ a: "string" }, {}, "x")).toEqual(['x.a: was "string", is undefined']);
});
