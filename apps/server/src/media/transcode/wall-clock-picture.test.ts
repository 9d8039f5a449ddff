import { expect, test } from "vitest";
import { drawWallClock } from "./wall-clock-picture.ts";

const art = (plane: { data: Uint8Array; lineSize: number; width: number; height: number }): string[] =>
  Array.from({ length: plane.height }, (_, line) =>
    Array.from(plane.data.subarray(line * plane.lineSize, line * plane.lineSize + plane.width), (luma) =>
      luma === 235 ? "#" : luma === 16 ? "." : " ",
    ).join(""),
  );

test("the time is drawn in UTC, to the millisecond, in the middle of the picture", () => {
  const plane = { data: new Uint8Array(64 * 11), lineSize: 64, width: 60, height: 11 };
  drawWallClock(plane, Date.parse("2026-01-02T12:34:56.789Z"));
  expect(art(plane)).toMatchInlineSnapshot(`
    [
      "                                                            ",
      "    ....................................................    ",
      "    ....#.####...####.#..#...####.####...####.####.####.    ",
      "    ....#....#.#....#.#..#.#.#....#.........#.#..#.#..#.    ",
      "    ....#....#......#.#..#...#....#.........#.#..#.#..#.    ",
      "    ....#.####...####.####...####.####......#.####.####.    ",
      "    ....#.#.........#....#......#.#..#......#.#..#....#.    ",
      "    ....#.#....#....#....#.#....#.#..#.#....#.#..#....#.    ",
      "    ....#.####...####....#...####.####......#.####.####.    ",
      "    ....................................................    ",
      "                                                            ",
    ]
  `);
});

test("a picture too small for the clock is drawn as far as it goes", () => {
  const plane = { data: new Uint8Array(16 * 4), lineSize: 16, width: 16, height: 4 };
  expect(() => drawWallClock(plane, 0)).not.toThrow();
});
