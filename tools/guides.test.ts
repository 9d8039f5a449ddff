import { expect, test } from "vitest";
import { guides } from "../apps/server/test/support/guides.ts";

test("a guide takes at most 12 commands", () => {
  const all = guides();
  expect(all.length).toBeGreaterThan(5);
  expect(all.filter(({ commands }) => commands > 12).map(({ page, commands }) => `${page}: ${commands}`)).toEqual([]);
});

test("commands of a guide that no test runs give the reason", () => {
  const silent = guides().flatMap(({ page, notRun }) =>
    notRun.filter(({ reason }) => reason.length < 10).map(() => page),
  );
  expect(silent).toEqual([]);
});
