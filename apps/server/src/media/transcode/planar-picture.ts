/** A picture in 4:2:0 with full range: all of its luma, then both planes of its chroma. Its sides are even. */
export interface PlanarPicture {
  readonly width: number;
  readonly height: number;
  readonly bytes: Uint8Array;
}

const LUMA_OF_BLACK = 0;
const NO_COLOUR = 128;

/** Bytes of a picture of this size. */
export function planarBytes(width: number, height: number): number {
  return (width * height * 3) / 2;
}

export function blackPicture(width: number, height: number): PlanarPicture {
  const bytes = new Uint8Array(planarBytes(width, height)).fill(NO_COLOUR);
  bytes.fill(LUMA_OF_BLACK, 0, width * height);
  return { width, height, bytes };
}

/** Copy `source` into `target`, its upper left corner at an even place. It fits. */
export function paste(source: PlanarPicture, target: PlanarPicture, left: number, top: number): void {
  const [from, to] = [planesOf(source), planesOf(target)];
  for (const [nth, plane] of from.entries()) {
    const into = to[nth];
    if (!into) return;
    const [x, y] = nth === 0 ? [left, top] : [left / 2, top / 2];
    for (let row = 0; row < plane.height; row++) {
      const line = plane.bytes.subarray(row * plane.width, (row + 1) * plane.width);
      into.bytes.set(line, (y + row) * into.width + x);
    }
  }
}

function planesOf({ width, height, bytes }: PlanarPicture): PlanarPicture[] {
  const chroma = { width: width / 2, height: height / 2 };
  const [luma, each] = [width * height, chroma.width * chroma.height];
  return [
    { width, height, bytes: bytes.subarray(0, luma) },
    { ...chroma, bytes: bytes.subarray(luma, luma + each) },
    { ...chroma, bytes: bytes.subarray(luma + each) },
  ];
}
