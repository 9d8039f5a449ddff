import type { WriteStream } from "node:tty";
import { styleText } from "node:util";

/** A column of a table. */
export interface Column<T> {
  readonly title: string;
  readonly of: (row: T) => string | number | null | undefined;
}

/** Where a command writes its results: for people, or with `--json` for programs. */
export interface PrinterOutput {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

type Style = Parameters<typeof styleText>[0];

/** Results on standard output. With JSON, a command prints one value; a list that does not end prints a value on each line. */
export class Printer {
  readonly isJson: boolean;
  readonly #out: PrinterOutput;

  constructor(out: PrinterOutput, isJson: boolean) {
    this.#out = out;
    this.isJson = isJson;
  }

  /** Colours and such only on a terminal, and not where `NO_COLOR` is set. */
  style(style: Style, text: string): string {
    if (this.#out.isTTY !== true) return text;
    return styleText(style, text, { stream: this.#out as WriteStream });
  }

  line(text: string): void {
    this.#out.write(`${text}\n`);
  }

  /** One value, or a sentence about it. */
  result(value: unknown, sentence: string): void {
    this.line(this.isJson ? JSON.stringify(value, null, 2) : sentence);
  }

  /** A name and a value on each line; those without a value are left out. */
  facts(value: unknown, facts: readonly (readonly [name: string, value: string | number | null | undefined])[]): void {
    if (this.isJson) return this.line(JSON.stringify(value, null, 2));
    const shown = facts.filter(([, fact]) => fact !== null && fact !== undefined && fact !== "");
    const width = Math.max(0, ...shown.map(([name]) => name.length));
    for (const [name, fact] of shown) this.line(`${this.style("dim", name.padEnd(width))}  ${fact}`);
  }

  table<T>(rows: readonly T[], columns: readonly Column<T>[], none: string): void {
    if (this.isJson) return this.line(JSON.stringify(rows, null, 2));
    if (rows.length === 0) return this.line(none);
    const cells = rows.map((row) => columns.map(({ of }) => oneLine(of(row))));
    const widths = columns.map(({ title }, column) =>
      Math.max(title.length, ...cells.map((row) => width(row[column]))),
    );
    const lineOf = (row: readonly string[]) =>
      row
        .map((cell, column) =>
          column === row.length - 1 ? cell : cell + " ".repeat((widths[column] ?? 0) - width(cell)),
        )
        .join("  ");
    this.line(this.style("bold", lineOf(columns.map(({ title }) => title))));
    for (const row of cells) this.line(lineOf(row));
  }
}

const width = (text = ""): number => [...text].length;

/** Names come from users: none may move the cursor of another's terminal. */
function oneLine(value: string | number | null | undefined): string {
  return String(value ?? "").replace(/[\p{Cc}\p{Cf}]/gu, "�");
}
