import { expect, test } from "vitest";
import { readSource } from "./source-files.ts";

const PAGE = "docs/4-operate/guarantees.md";
const SHOWN_BY = /\[[\w.-]+\]\(\.\.\/\.\.\/([^)]+\.ts)\)(?:: \*([^*]+)\*)?/g;

/** What of a title is written in the test's file: between values that it is made with. */
const written = (title: string): readonly string[] => title.split(/%[is]/).map((piece) => piece.trim());

test("every promise names a test, and every test that is named exists", () => {
  const page = readSource(PAGE);
  const promises = page.split("\n").filter((line) => line.startsWith("| ") && !/^\| (?:Promise|---)/.test(line));
  expect(promises.length).toBeGreaterThan(15);
  expect(promises.filter((line) => !line.includes(".ts]("))).toEqual([]);
  const wrong = [...page.matchAll(SHOWN_BY)].flatMap(([, file = "", title = ""]) => {
    const source = readSource(file);
    return written(title)
      .filter((piece) => !source.includes(piece))
      .map((piece) => `${file} has no test with "${piece}"`);
  });
  expect(wrong).toEqual([]);
});
