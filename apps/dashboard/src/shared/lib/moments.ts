const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const absolute = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" });

const UNITS = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
] as const;

/** A moment seen from `now`, both in milliseconds since the epoch: `5 minutes ago`. */
export function relativeMoment(at: number, now: number): string {
  const seconds = (at - now) / 1000;
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit);
  }
  // Clocks of server and reader differ by a little; a moment "in 1 second" would only puzzle.
  return seconds > -10 ? "just now" : relative.format(Math.trunc(seconds), "second");
}

/** In the reader's own time zone: `Nov 21, 2026, 4:02:10 AM`. */
export function absoluteMoment(at: number): string {
  return absolute.format(at);
}

const day = new Intl.DateTimeFormat("en", { dateStyle: "medium" });

/** The day in the reader's own time zone: `Nov 21, 2026`. */
export function absoluteDay(at: number): string {
  return day.format(at);
}

/** A moment as an input of the type `datetime-local` has it, in the reader's own time zone and to the minute. */
export function localInput(at: number): string {
  const shifted = at - new Date(at).getTimezoneOffset() * 60_000;
  return new Date(shifted).toISOString().slice(0, 16);
}

/** The moment that such an input says; NaN for an empty one. */
export function readLocalInput(text: string): number {
  return new Date(text).getTime();
}

const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const DAY_MS = 86_400_000;

/** The time of day to the second, for lists in which most is of today: `16:02:10`. What is older than a day has its date as well. */
export function clockMoment(at: number, now: number): string {
  return now - at < DAY_MS ? clock.format(at) : absoluteMoment(at);
}
