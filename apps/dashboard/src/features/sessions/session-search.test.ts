import { expect, test } from "vitest";
import { sessionOptionsOf, sessionSearch } from "./session-search.ts";

test("an address with every filter is read whole; unknown values are left out", () => {
  const search = { streamId: "a", created: "week", cursor: "skip20" };
  expect(sessionSearch(search)).toEqual(search);
  expect(sessionSearch({ streamId: null, created: "toString", x: 1 })).toEqual({});
});

test("dates are counted back from now", () => {
  expect(sessionOptionsOf({ streamId: "a", created: "day" }, 86_400_001)).toMatchObject({
    streamId: "a",
    createdSince: 1,
  });
});
