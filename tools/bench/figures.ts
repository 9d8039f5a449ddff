import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { busyWith } from "../../apps/server/src/roles/capacity/quiet-machine.ts";
import { ROOT } from "./bench-server.ts";
import { formatRow, machine, type Row } from "./report.ts";

export const PAGE = "docs/4-operate/performance.md";
const END = "[//]: # (figures end)";
/** The start of one measurement's figures, in a line of its own: the definition of a link, which no renderer of Markdown shows. */
const mark = (name: string): string => `[//]: # (figures ${name})`;

/** Where figures come from. */
export interface Origin {
  readonly commit: string;
  readonly date: string;
  readonly machine: string;
  readonly command: string;
  /** What else the machine did. */
  readonly load: string;
}

/** Writes the figures of each measurement of a run into the page as soon as they are there. */
export class FiguresPage {
  readonly #origin: Origin;
  readonly #order: readonly string[];

  private constructor(origin: Origin, order: readonly string[]) {
    this.#origin = origin;
    this.#order = order;
  }

  /** `order` has the names of all measurements. Throws on a machine that does other work, unless `anyway` is true. */
  static async open(order: readonly string[], anyway: boolean): Promise<FiguresPage> {
    const [average = 0] = loadavg();
    const busy = await busyWith();
    if (busy && !anyway) throw new Error(`figures for the page need a quiet machine (or --anyway): ${busy}`);
    const before = `load average ${average.toFixed(1)} before`;
    const origin = {
      commit: commit(),
      date: new Date().toISOString().slice(0, 10),
      machine: machine(),
      command: ["npm run bench --", ...process.argv.slice(2)].join(" "),
      load: busy ? `**beside other work** (${before}; ${busy})` : before,
    };
    return new FiguresPage(origin, order);
  }

  /** Replaces what the page has of this measurement. */
  write(name: string, rows: readonly Row[]): void {
    const path = join(ROOT, PAGE);
    writeFileSync(path, withFigures(readFileSync(path, "utf8"), this.#order, name, figuresText(rows, this.#origin)));
  }
}

/** A sentence about the origin, and the table. */
export function figuresText(rows: readonly Row[], { commit, date, machine, command, load }: Origin): string {
  const origin = `Commit \`${commit}\`, ${date}, \`${command}\`, ${load}; ${machine}.`;
  return [origin, "", "| What | Measured |", "| --- | --- |", ...rows.map(formatRow)].join("\n");
}

/** The page with `text` as the figures of measurement `name`, which stand in `order`. Throws if the page has no mark of their end. */
export function withFigures(page: string, order: readonly string[], name: string, text: string): string {
  const at = page.indexOf(`\n${END}\n`) + 1;
  if (at === 0) throw new Error(`${PAGE} has no line ${END}`);
  const place = (one: string): number => (order.includes(one) ? order.indexOf(one) : order.length);
  const marks = [...page.slice(0, at).matchAll(/^\[\/\/\]: # \(figures (.+)\)$/gm)];
  const next = marks.find(([, other = ""]) => place(other) > place(name))?.index ?? at;
  const same = marks.find(([line]) => line === mark(name))?.index ?? next;
  return `${page.slice(0, same)}${mark(name)}\n\n**${name}.** ${text}\n\n${page.slice(next)}`;
}

/** The commit that is measured, and whether its files were changed since. */
function commit(): string {
  const git = (...args: string[]): string => spawnSync("git", args, { cwd: ROOT, encoding: "utf8" }).stdout.trim();
  const isChanged = git("status", "--porcelain", "--", "apps", "packages", "package-lock.json") !== "";
  return `${git("rev-parse", "--short=8", "HEAD")}${isChanged ? " with changes" : ""}`;
}
