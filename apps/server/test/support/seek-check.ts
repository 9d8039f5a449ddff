import { expect } from "vitest";
import { AvFile, type NumberedPicture } from "./av-file.ts";

/** A time between two pictures, and the numbers of both. */
export interface Seek {
  readonly seconds: number;
  /** The picture shown at this time. */
  readonly shown: number;
  /** The first picture after it. */
  readonly next: number;
}

/** All pictures of a file, read from its beginning to its end. None is missing. */
export async function picturesOf(url: string): Promise<NumberedPicture[]> {
  await using file = await AvFile.open(url);
  const pictures = await file.numbers();
  const first = pictures[0]?.number ?? 0;
  expect(pictures.map(({ number }) => number)).toEqual(pictures.map((_, n) => first + n));
  return pictures;
}

/** Random times in the middle between two pictures. */
export function randomSeeks(pictures: readonly NumberedPicture[], count: number): Seek[] {
  return Array.from({ length: count }, () => {
    const at = Math.floor(Math.random() * (pictures.length - 1));
    const [shown, next] = pictures.slice(at, at + 2) as [NumberedPicture, NumberedPicture];
    return { seconds: (shown.seconds + next.seconds) / 2, shown: shown.number, next: next.number };
  });
}

const GOP_PICTURES = 60;
const REORDERED_PICTURES = 2;

/**
 * Those after which Chromium shows exactly the picture of that time. It looks for keyframes by the time at which they are decoded, so in any MP4 with
 * B-frames it shows a keyframe up to two pictures early.
 */
export function exactInChromium(seeks: readonly Seek[], bFrames: number): Seek[] {
  if (bFrames === 0) return [...seeks];
  return seeks.filter(({ next }) => (next + REORDERED_PICTURES - 1) % GOP_PICTURES >= REORDERED_PICTURES);
}

/** Seeks which found another picture than `expected`, as sentences. */
export async function wrongSeeks(
  seeks: readonly Seek[],
  find: (seconds: number) => Promise<number>,
  expected: "shown" | "next",
): Promise<string[]> {
  const wrong: string[] = [];
  for (const seek of seeks) {
    const found = await find(seek.seconds);
    if (found !== seek[expected])
      wrong.push(`${seek.seconds.toFixed(3)} s: picture ${found} instead of ${seek[expected]}`);
  }
  return wrong;
}
