import { expect, test } from "vitest";
import { matching, pageCommands } from "./commands.ts";

const labels = (words: string): string[] => matching(pageCommands, words).map(({ label }) => label);

test("commands are found by parts of their words, in any case and order", () => {
  expect(labels("STREAM")).toEqual(["Streams", "Live streams", "Unhealthy streams"]);
  expect(labels("streams live")).toEqual(["Live streams"]);
  expect(labels("nothing like it")).toEqual([]);
  expect(labels(" ").length).toBe(pageCommands.length);
});
