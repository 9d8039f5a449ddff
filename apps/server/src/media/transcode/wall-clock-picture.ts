/** Digits of seven segments, drawn into a luma plane: a clock in the picture that needs no font. */

/** One plane of a picture; each line takes `lineSize` bytes. */
export interface LumaPlane {
  readonly data: Uint8Array;
  readonly lineSize: number;
  readonly width: number;
  readonly height: number;
}

// Lit segments of each digit: top, upper left, upper right, middle, lower left, lower right, bottom.
const DIGITS = [
  "1110111",
  "0010010",
  "1011101",
  "1011011",
  "0111010",
  "1101011",
  "1101111",
  "1010010",
  "1111111",
  "1111011",
];

const BLACK = 16;
const WHITE = 235;

/** Draws `HH:MM:SS.mmm` (UTC) of `at`, milliseconds since the Unix epoch, on black across the middle of the picture. */
export function drawWallClock(plane: LumaPlane, at: number): void {
  const text = new Date(at).toISOString().slice(11, 23);
  // A digit is 4 by 7 units, a separator 1 wide, with 1 between: 9 digits and 3 separators are 50 units. They take half of the width.
  const unit = Math.max(1, Math.floor(plane.width / 100));
  let x = Math.floor((plane.width - 50 * unit) / 2);
  const y = Math.floor((plane.height - 7 * unit) / 2);
  fill(plane, x - unit, y - unit, 52 * unit, 9 * unit, BLACK);
  for (const character of text) {
    const lit = DIGITS[Number(character)];
    if (lit) {
      drawDigit(plane, x, y, unit, lit);
      x += 5 * unit;
    } else {
      fill(plane, x, y + 5 * unit, unit, unit, WHITE);
      if (character === ":") fill(plane, x, y + unit, unit, unit, WHITE);
      x += 2 * unit;
    }
  }
}

function drawDigit(plane: LumaPlane, x: number, y: number, unit: number, lit: string): void {
  const segments = [
    [0, 0, 4, 1],
    [0, 0, 1, 4],
    [3, 0, 1, 4],
    [0, 3, 4, 1],
    [0, 3, 1, 4],
    [3, 3, 1, 4],
    [0, 6, 4, 1],
  ] as const;
  segments.forEach(([left, top, width, height], index) => {
    if (lit[index] === "1") fill(plane, x + left * unit, y + top * unit, width * unit, height * unit, WHITE);
  });
}

function fill(plane: LumaPlane, x: number, y: number, width: number, height: number, value: number): void {
  const left = Math.max(0, x);
  const right = Math.min(plane.width, x + width);
  for (let line = Math.max(0, y); line < Math.min(plane.height, y + height); line++) {
    plane.data.fill(value, line * plane.lineSize + left, line * plane.lineSize + Math.max(left, right));
  }
}
