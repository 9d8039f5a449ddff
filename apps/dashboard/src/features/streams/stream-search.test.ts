import { expect, test } from "vitest";
import { isNarrowed, listOptionsOf, streamSearch } from "./stream-search.ts";

const NOW = 1_700_000_000_000;
const LIVE_FIRST = [
  { field: "isActive", descending: true },
  { field: "createdAt", descending: true },
];

test("an address with every filter is read whole, and a number in it is a name", () => {
  const search = { name: 12, state: "idle", record: "off", created: "week", cursor: "skip20" };
  expect(streamSearch(search)).toEqual({ ...search, name: "12" });
});

test("what an address says that is not known is left out", () => {
  expect(streamSearch({ name: "", state: "gone", record: true, created: "toString", x: 1 })).toEqual({});
});

test.each([
  ["active", { active: true }],
  ["idle", { active: false, suspended: false }],
  ["suspended", { suspended: true }],
] as const)("streams that are shown as %s are asked for", (state, options) => {
  expect(listOptionsOf({ state }, NOW)).toEqual({ ...options, orderBy: LIVE_FIRST });
});

test("recorded and created are asked for, counted back from now", () => {
  expect(listOptionsOf({ record: "on", created: "day", name: "a" }, NOW)).toEqual({
    name: "a",
    record: true,
    orderBy: LIVE_FIRST,
    createdSince: NOW - 86_400_000,
  });
  expect(listOptionsOf({ record: "off" }, NOW).record).toBe(false);
});

test("no field that changes while a stream is live sorts the list, unless a person asks for it", () => {
  expect(listOptionsOf({}, NOW).orderBy).toEqual(LIVE_FIRST);
  expect(listOptionsOf({ sort: "-lastSeen" }, NOW).orderBy).toEqual({ field: "lastSeen", descending: true });
});

test("a later page alone is not a filter", () => {
  expect([isNarrowed({ cursor: "skip20" }), isNarrowed({ cursor: "skip20", record: "on" })]).toEqual([false, true]);
});
