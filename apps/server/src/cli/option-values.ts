import { InvalidArgumentError } from "commander";

/** A whole number between these, both included. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Give a whole number from ${least} to ${most}`);
  };
}

/** Seconds in `90`, `90s`, `1:30`, `1:02:03` or `2.5`. */
export function seconds(text: string): number {
  const clock = /^(?:(\d+):)?(\d{1,2}):(\d{2}(?:\.\d+)?)$/.exec(text);
  if (clock) return Number(clock[1] ?? 0) * 3600 + Number(clock[2]) * 60 + Number(clock[3]);
  const plain = /^(\d+(?:\.\d+)?)s?$/.exec(text);
  if (plain) return Number(plain[1]);
  throw new InvalidArgumentError("Give seconds (90), or minutes and seconds (1:30)");
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds in `30s`, `10m`, `2h` or `1d`. */
export function duration(text: string): number {
  const [, count = "", unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * (UNITS[unit] ?? 0);
  if (ms > 0) return ms;
  throw new InvalidArgumentError("Give a time such as 30s, 10m, 2h or 1d");
}

/** The names between the commas. */
export function names(text: string): readonly string[] {
  const found = text.split(",").map((name) => name.trim());
  if (found.every((name) => name !== "")) return found;
  throw new InvalidArgumentError("Give names with commas between them");
}
