import { expect, test } from "vitest";
import { type Column, Printer } from "./printer.ts";
import { barOf, ProgressBar } from "./progress-bar.ts";

function written(isTTY: boolean) {
  const parts: string[] = [];
  return { out: { isTTY, columns: 60, write: (text: string) => parts.push(text) }, text: () => parts.join("") };
}

const ROWS = [
  { id: "1", name: "stage" },
  { id: "22", name: "a\u001b[2J\nb" },
];
const COLUMNS: readonly Column<{ id: string; name: string }>[] = [
  { title: "ID", of: ({ id }) => id },
  { title: "NAME", of: ({ name }) => name },
];

test("a table is aligned, and a name from elsewhere moves no cursor", () => {
  const { out, text } = written(false);
  new Printer(out, false).table(ROWS, COLUMNS, "none");
  expect(text()).toBe("ID  NAME\n1   stage\n22  a�[2J�b\n");
});

test("JSON holds the rows as they are, and an empty list is a list", () => {
  const { out, text } = written(false);
  const print = new Printer(out, true);
  print.table(ROWS, COLUMNS, "none");
  expect(JSON.parse(text())).toEqual(ROWS);
  const empty = written(false);
  new Printer(empty.out, true).table([], COLUMNS, "none");
  expect(JSON.parse(empty.text())).toEqual([]);
});

test("a bar is drawn over itself on a terminal, and nowhere else", () => {
  const pipe = written(false);
  new ProgressBar(pipe.out).show("uploading", 0.5);
  expect(pipe.text()).toBe("");
  const terminal = written(true);
  const bar = new ProgressBar(terminal.out);
  bar.show("uploading", 0.5);
  bar.show("uploading", 0.5);
  expect(terminal.text()).toBe(`\r\x1b[K${barOf("uploading", 0.5)}`);
  bar.clear();
  expect(terminal.text().endsWith("\r\x1b[K")).toBe(true);
  expect(barOf("x", 7)).toContain("100 %");
});
