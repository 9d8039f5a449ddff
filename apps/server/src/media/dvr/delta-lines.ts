import { type PlaylistSegment, segmentText } from "@weir/formats/hls";
import type { SegmentRows } from "./segment-rows.ts";

/** More than additions of seconds are off. */
const ROUNDING_MS = 1e-6;

/**
 * The lines of a delta update, and the init segment in force behind them. A client could know the one before them and compute the times, but shaka-player
 * forgets the first and places what has no time by the durations alone. So each segment has its time as it follows from the whole list, rounded down:
 * the same in each update.
 */
export function deltaLines(
  rows: SegmentRows,
  from: number,
  to: number,
  lineOf: (index: number) => PlaylistSegment,
): { readonly text: string; readonly map: string } {
  let [text, map] = ["", ""];
  let { toldMs, seconds } = timeBefore(rows, from);
  for (let index = from; index < to; index++) {
    const line = lineOf(index);
    const { init } = rows.segmentAt(index);
    if (line.programDateTimeMs !== null) [toldMs, seconds] = [Math.floor(line.programDateTimeMs), 0];
    const programDateTimeMs = toldMs + Math.floor(seconds * 1000 + ROUNDING_MS);
    text += segmentText({ ...line, programDateTimeMs, map: init ?? "" }, map);
    map = init ?? map;
    seconds += line.duration;
  }
  return { text, map };
}

/** The last time that the list tells before a row, in ms since the epoch, and the segments since then. */
function timeBefore(rows: SegmentRows, index: number): { readonly toldMs: number; readonly seconds: number } {
  let seconds = 0;
  for (let before = index - 1; before >= 0; before--) {
    const { block, at } = rows.row(before);
    seconds += block.secondsAt(at);
    if (block.hasTime(at)) return { toldMs: Math.floor(block.timeAt(at)), seconds };
  }
  return { toldMs: Math.floor(rows.segmentAt(index).programDateTimeMs), seconds: 0 };
}
