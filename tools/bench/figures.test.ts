import { expect, test } from "vitest";
import { readSource } from "../source-files.ts";
import { figuresText, PAGE, withFigures } from "./figures.ts";

const ORDER = ["startup", "age", "ingest"];
const ORIGIN = {
  commit: "0a1b2c3d",
  date: "2026-01-02",
  machine: "2 × CPU, 8 GiB, Linux 6, Node v24",
  command: "npm run bench -- --write --only age",
  load: "load average 0.1 before",
};
const PAGE_TEXT = "# Page\n\nBefore.\n\n[//]: # (figures end)\n\nAfter.\n";

const write = (page: string, name: string, text: string): string => withFigures(page, ORDER, name, text);

test("figures state commit, date, command, load and machine above their table", () => {
  const rows = [
    { what: "oldest frame of a part", value: 338.4, unit: "ms" },
    { what: "stalls", value: 0, unit: "" },
  ];
  expect(figuresText(rows, ORIGIN)).toBe(
    "Commit `0a1b2c3d`, 2026-01-02, `npm run bench -- --write --only age`, load average 0.1 before; 2 × CPU, 8 GiB, Linux 6, Node v24.\n\n" +
      "| What | Measured |\n| --- | --- |\n| oldest frame of a part | 338 ms |\n| stalls | 0.00 |",
  );
});

test("figures of measurements stand in order, whatever the order in which they were measured", () => {
  const written = write(write(write(PAGE_TEXT, "ingest", "C"), "startup", "A"), "age", "B");
  expect(written).toBe(
    "# Page\n\nBefore.\n\n[//]: # (figures startup)\n\n**startup.** A\n\n[//]: # (figures age)\n\n**age.** B\n\n" +
      "[//]: # (figures ingest)\n\n**ingest.** C\n\n[//]: # (figures end)\n\nAfter.\n",
  );
});

test("a later measurement replaces its own figures and no others", () => {
  const before = write(write(PAGE_TEXT, "startup", "A"), "ingest", "C");
  const first = write(write(before, "age", "B\n\n| a | b |"), "ingest", "D");
  expect(write(first, "age", "E")).toBe(write(write(before, "ingest", "D"), "age", "E"));
});

test("a page without the mark of the end is refused", () => {
  expect(() => write("# Page\n", "age", "B")).toThrow("no line [//]: # (figures end)");
});

test("the page of figures takes figures of any measurement, and changes nothing else", () => {
  const page = readSource(PAGE);
  const written = withFigures(page, ["before all others"], "before all others", "X");
  expect(written.replace("[//]: # (figures before all others)\n\n**before all others.** X\n\n", "")).toBe(page);
});
