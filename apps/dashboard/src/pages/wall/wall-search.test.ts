import { expect, test } from "vitest";
import { wallSearch, wallStreams } from "./wall-search.ts";

test("the wall shows live streams by name, or the unhealthy ones among them", () => {
  expect(wallStreams(wallSearch({ state: "idle", sort: "-createdAt", name: "stage" }))).toEqual({
    ...{ name: "stage", state: "active", sort: "name" },
  });
  expect(wallStreams(wallSearch({ state: "unhealthy", cursor: "skip48" }))).toEqual({
    ...{ state: "unhealthy", sort: "name", cursor: "skip48" },
  });
});
