import fc from "fast-check";
import { expect, test } from "vitest";
import { AudioFrames } from "./audio-frames.ts";

/** Frames of 10 ticks a byte: a mark, their size, and their content, which is no mark. */
function collector() {
  const frames: string[] = [];
  const reader = new AudioFrames({
    headBytes: 2,
    sizeOf: (bytes, at) => (bytes[at] === 0xff && (bytes[at + 1] ?? 0) > 2 ? (bytes[at + 1] ?? 0) : 0),
    frame(bytes, presentation) {
      frames.push(`${presentation} ${bytes.length}`);
      return bytes.length * 10;
    },
  });
  return { frames, reader };
}

const frame = (size: number) => [0xff, size, ...new Array<number>(size - 2).fill(1)];

test("a frame in two packets keeps its own time, and the packet's time is that of the first frame that starts in it", () => {
  const { frames, reader } = collector();
  const bytes = Uint8Array.from([...frame(20), ...frame(30), ...frame(40)]);
  reader.push(bytes.subarray(0, 35), 1_000);
  reader.push(bytes.subarray(35), 5_000);
  expect(frames).toEqual(["1000 20", "1200 30", "5000 40"]);
});

test("packets without a time continue, and frames before the first time are left out", () => {
  const { frames, reader } = collector();
  reader.push(Uint8Array.from(frame(20)), null);
  reader.push(Uint8Array.from(frame(20)), 100);
  reader.push(Uint8Array.from(frame(20)), null);
  expect(frames).toEqual(["100 20", "300 20"]);
});

test("bytes that are no frame are skipped, and so is the rest of one that was lost", () => {
  const { frames, reader } = collector();
  reader.push(Uint8Array.from([9, 9, 0xff, 9, 9, ...frame(20), ...frame(25).slice(0, 7)]), 0);
  reader.lost();
  reader.push(Uint8Array.from([1, 1, 1, ...frame(30)]), 1_000);
  expect(frames).toEqual(["0 20", "1000 30"]);
});

test("frames are found however they are cut", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 3, max: 90 }), { minLength: 1, maxLength: 20 }),
      fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 8 }),
      (sizes, cuts) => {
        const { frames, reader } = collector();
        const bytes = Uint8Array.from(sizes.flatMap(frame));
        for (let at = 0, n = 0; at < bytes.length; n++) {
          const end = at + (cuts[n % cuts.length] ?? 1);
          reader.push(bytes.subarray(at, end), at === 0 ? 0 : null);
          at = end;
        }
        expect(frames.map((one) => Number(one.split(" ")[1]))).toEqual(sizes);
      },
    ),
  );
});
