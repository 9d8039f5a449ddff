import { expect, test } from "vitest";
import { assetSearch } from "./asset-search.ts";

test("an address is read, and what it cannot mean is left out", () => {
  expect(assetSearch({ name: "talk", phase: "failed", cursor: "c" })).toEqual({
    name: "talk",
    phase: "failed",
    cursor: "c",
  });
  expect(assetSearch({ name: "", phase: "deleted", cursor: 7 })).toEqual({ cursor: "7" });
});
