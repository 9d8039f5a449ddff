import type { MediaIndex } from "../../ports/index.ts";
import { renditionFor } from "./stored-stills.ts";

/** Of one list, however long the media are. */
const MAX_PICTURES = 500;
/** A picture for less is of no use on a seek bar. */
const LEAST_SECONDS = 1;

/** When each picture of a storyboard begins, and when the last ends, in seconds: each at a segment's begin. */
export interface Storyboard {
  readonly starts: readonly number[];
  readonly endSeconds: number;
}

/** Null where there are no pictures. */
export function storyboardOf(index: MediaIndex): Storyboard | null {
  const rendition = renditionFor(index, 0);
  if (!rendition) return null;
  const { segments, track } = rendition;
  const seconds = segments.reduce((sum, { durationTicks }) => sum + durationTicks, 0) / track.timescale;
  const apart = Math.max(LEAST_SECONDS, seconds / MAX_PICTURES);
  const starts: number[] = [];
  let at = 0;
  for (const { durationTicks } of segments) {
    if (at >= starts.length * apart && durationTicks > 0) starts.push(at);
    at += durationTicks / track.timescale;
  }
  return { starts, endSeconds: at };
}

/** As WebVTT: the address of a picture for each span of time, relative to the list. `query` goes behind each, with its question mark. */
export function storyboardText({ starts, endSeconds }: Storyboard, query: string): string {
  const cues = starts.map((start, nth) => {
    const end = starts[nth + 1] ?? endSeconds;
    return `${timestamp(start)} --> ${timestamp(end)}\nkeyframes_${nth}.jpg${query}\n`;
  });
  return ["WEBVTT\n", ...cues].join("\n");
}

function timestamp(seconds: number): string {
  const milliseconds = Math.round(seconds * 1000);
  const two = (value: number): string => String(Math.floor(value)).padStart(2, "0");
  const rest = String(milliseconds % 1000).padStart(3, "0");
  return `${two(milliseconds / 3_600_000)}:${two((milliseconds / 60_000) % 60)}:${two((milliseconds / 1000) % 60)}.${rest}`;
}
