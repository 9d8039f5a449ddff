import type { MediaIndex } from "../../ports/index.ts";
import { renditionFor } from "./stored-keyframes.ts";

/** Layout of one sheet. */
export const SHEET = { columns: 10, tiles: 100 } as const;
/** Limit per storyboard, however long the media. */
const MAX_SHEETS = 10;
/** Seconds between pictures: `most` in long media, `least` in media that fit on one sheet. */
const SECONDS_APART = { most: 5, least: 1 } as const;
/** A tile fits into a square of this many pixels. */
const TILE_SIDE = 160;
const ASPECT_UNKNOWN = { width: 16, height: 9 } as const;

export interface TileSize {
  readonly width: number;
  readonly height: number;
}

/** The start of each picture of a storyboard and the end of the last, in seconds. Each is at a segment's start. */
export interface Storyboard {
  readonly starts: readonly number[];
  readonly endSeconds: number;
  readonly tile: TileSize;
}

/** Null without video. */
export function storyboardOf(index: MediaIndex): Storyboard | null {
  const rendition = renditionFor(index, 0);
  if (!rendition) return null;
  const { segments, track } = rendition;
  const seconds = segments.reduce((sum, { durationTicks }) => sum + durationTicks, 0) / track.timescale;
  const apart = secondsApart(seconds);
  const starts: number[] = [];
  let at = 0;
  for (const { durationTicks } of segments) {
    if (at >= starts.length * apart && durationTicks > 0) starts.push(at);
    at += durationTicks / track.timescale;
  }
  return { starts, endSeconds: at, tile: tileOf(track.width && track.height ? (track as TileSize) : ASPECT_UNKNOWN) };
}

/** Number of sheets. */
export function sheetsOf({ starts }: Storyboard): number {
  return Math.ceil(starts.length / SHEET.tiles);
}

/** What cues name: a region of a sheet, or one picture each. */
export type StoryboardCues = "sheets" | "pictures";

/**
 * The storyboard as WebVTT: a sheet region for each time span, with URLs relative to the list. `query` is appended to each URL, including its
 * question mark.
 */
export function storyboardText(
  { starts, endSeconds, tile: { width, height } }: Storyboard,
  query: string,
  named: StoryboardCues = "sheets",
): string {
  const cues = starts.map((start, nth) => {
    const end = starts[nth + 1] ?? endSeconds;
    const times = `${timestamp(start)} --> ${timestamp(end)}`;
    if (named === "pictures") return `${times}\nkeyframes_${nth}.jpg${query}\n`;
    const place = nth % SHEET.tiles;
    const [x, y] = [(place % SHEET.columns) * width, Math.floor(place / SHEET.columns) * height];
    const sheet = `storyboard_${Math.floor(nth / SHEET.tiles)}.jpg${query}`;
    return `${times}\n${sheet}#xywh=${x},${y},${width},${height}\n`;
  });
  return ["WEBVTT\n", ...cues].join("\n");
}

/** A moment of a live stream that viewers can go back to, and has a picture. */
export interface Moment {
  /** Number of the segment that begins with the picture. */
  readonly msn: number;
  /** By the clock, from the first moment that viewers can go back to now. */
  readonly seconds: number;
  readonly endSeconds: number;
  readonly programDateTimeMs: number;
}

/** How far the moments of a live stream are apart: twice as far whenever there would be too many, so that those that stay keep their addresses. */
export function momentsApart(seconds: number): number {
  let apart: number = SECONDS_APART.most;
  while (seconds / apart > SHEET.tiles * MAX_SHEETS) apart *= 2;
  return apart;
}

/** The storyboard of a live stream: a picture for each moment. The name of a cue is when it was, by which players find it in a list that has moved on. */
export function momentsText(moments: readonly Moment[], pictureOf: (msn: number) => string): string {
  const cues = moments.map(({ msn, seconds, endSeconds, programDateTimeMs }) => {
    const name = new Date(programDateTimeMs).toISOString();
    return `${name}\n${timestamp(seconds)} --> ${timestamp(endSeconds)}\n${pictureOf(msn)}\n`;
  });
  return ["WEBVTT\n", ...cues].join("\n");
}

function secondsApart(seconds: number): number {
  const ofOneSheet = Math.max(SECONDS_APART.least, seconds / SHEET.tiles);
  return Math.max(Math.min(ofOneSheet, SECONDS_APART.most), seconds / (SHEET.tiles * MAX_SHEETS));
}

function tileOf({ width, height }: TileSize): TileSize {
  const scale = TILE_SIDE / Math.max(width, height);
  const even = (pixels: number): number => Math.max(2, Math.round((pixels * scale) / 2) * 2);
  return { width: even(width), height: even(height) };
}

function timestamp(seconds: number): string {
  const milliseconds = Math.round(seconds * 1000);
  const two = (value: number): string => String(Math.floor(value)).padStart(2, "0");
  const rest = String(milliseconds % 1000).padStart(3, "0");
  return `${two(milliseconds / 3_600_000)}:${two((milliseconds / 60_000) % 60)}:${two((milliseconds / 1000) % 60)}.${rest}`;
}
