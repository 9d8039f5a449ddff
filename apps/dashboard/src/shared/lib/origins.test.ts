import { expect, test } from "vitest";
import { parseOrigins } from "./origins.ts";

test.each([
  ["", [], null],
  [
    " https://a.example,http://localhost:5173  https://a.example ",
    ["https://a.example", "http://localhost:5173"],
    null,
  ],
  ["*", ["*"], null],
  ["https://a.example/path", ["https://a.example/path"], "https://a.example/path"],
  ["a.example", ["a.example"], "a.example"],
])("origins typed as %j are %j, wrong is %j", (typed, origins, wrong) => {
  expect(parseOrigins(typed)).toEqual({ origins, wrong });
});
