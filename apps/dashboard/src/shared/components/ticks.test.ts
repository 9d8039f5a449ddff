import { expect, test } from "vitest";
import { toggled } from "./ticks.tsx";

test("ticking a row a second time unticks it; the others stay", () => {
  const first = toggled(new Set(), "a");
  const both = toggled(first, "b");
  expect([...both]).toEqual(["a", "b"]);
  expect([...toggled(both, "a")]).toEqual(["b"]);
  expect([...first]).toEqual(["a"]);
});
