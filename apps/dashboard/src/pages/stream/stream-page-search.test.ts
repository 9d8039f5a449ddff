import { expect, test } from "vitest";
import { streamPageSearch } from "./stream-page-search.ts";

test("an address with everything in it is read whole", () => {
  const search = { tab: "events", cursor: "c", created: "week", show: "fatal", at: 1_700_000_000_000 };
  expect(streamPageSearch(search)).toEqual(search);
});

test("what goes without saying, and what is not known, is left out", () => {
  expect(streamPageSearch({ tab: "overview", show: "notable", at: "soon" })).toEqual({});
  expect(streamPageSearch({ tab: "toString", show: 3, at: -1, cursor: "", x: 1 })).toEqual({});
});
