/** A number in a picture, as twelve blocks of black and white that survive any encoder. */

const BITS = 12;
const BLOCK = 24;
const BLACK = 16;
const WHITE = 235;
/** Position of the first block. Pictures are at least 320 by 180. */
const [LEFT, TOP] = [16, 80];

/** Draws the number into a plane of luma whose lines take `lineBytes` each. */
export function drawNumber(luma: Uint8Array, lineBytes: number, number: number): void {
  for (let bit = 0; bit < BITS; bit++) {
    const left = LEFT + bit * BLOCK;
    for (let y = TOP; y < TOP + BLOCK; y++)
      luma.fill((number >> bit) & 1 ? WHITE : BLACK, y * lineBytes + left, y * lineBytes + left + BLOCK);
  }
}

/** Reads it from the middle of each block. `shadeAt` returns the brightness of a pixel, from 0 to 255. */
export function readNumber(shadeAt: (x: number, y: number) => number): number {
  let number = 0;
  for (let bit = 0; bit < BITS; bit++)
    if (shadeAt(LEFT + bit * BLOCK + BLOCK / 2, TOP + BLOCK / 2) > 128) number |= 1 << bit;
  return number;
}
