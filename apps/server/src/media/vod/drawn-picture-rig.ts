import type { Frame } from "node-av/lib";

/** For tests: pictures that encode their number and orientation. */

/** The shades of the four quarters. A block in the middle encodes the picture's number. */
const QUARTERS = [40, 90, 140, 190] as const;
export const [TOP_LEFT, TOP_RIGHT, BOTTOM_LEFT, BOTTOM_RIGHT] = QUARTERS;
const FIRST_SHADE = 20;
const SHADE_STEP = 4;
const SHADES = 50;

/** Draws the quarters and the block with number `n`. In interlaced pictures, the left half is bright in one field and dark in the other. */
export function drawPicture(width: number, height: number, n: number, isInterlaced: boolean): Buffer {
  const [half, halfUp] = [Math.ceil(width / 2), Math.ceil(height / 2)];
  const picture = Buffer.alloc(width * height + 2 * half * halfUp, 128);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const quarter = QUARTERS[(y < height / 2 ? 0 : 2) + (x < width / 2 ? 0 : 1)] ?? 0;
      const isMiddle = Math.abs(x - width / 2) < width / 8 && Math.abs(y - height / 2) < height / 8;
      const shade = FIRST_SHADE + (n % SHADES) * SHADE_STEP;
      picture[y * width + x] = isMiddle ? shade : isInterlaced && x < width / 2 ? (y % 2 === 0 ? 40 : 200) : quarter;
    }
  }
  return picture;
}

/** The content of a decoded picture (8 bits, 4:2:0). */
export interface ReadPicture {
  /** Mean brightness of the corners. */
  readonly corners: readonly [number, number, number, number];
  /** The number encoded in the picture. */
  readonly number: number;
  /** Difference between neighbouring lines in the left half. */
  readonly combing: number;
}

export function readPicture({ width, height, linesize, data }: Frame): ReadPicture {
  const [luma, stride] = [data?.[0] ?? Buffer.alloc(0), linesize[0] ?? 0];
  const mean = (x: number, y: number): number => {
    let sum = 0;
    for (let dy = 0; dy < 8; dy++) for (let dx = 0; dx < 8; dx++) sum += luma[(y + dy) * stride + x + dx] ?? 0;
    return Math.round(sum / 64);
  };
  return {
    corners: [mean(4, 4), mean(width - 12, 4), mean(4, height - 12), mean(width - 12, height - 12)],
    number: Math.round((mean(width / 2 - 4, height / 2 - 4) - FIRST_SHADE) / SHADE_STEP),
    combing: Math.abs((luma[4 * stride + 8] ?? 0) - (luma[5 * stride + 8] ?? 0)),
  };
}
