import { expect, test } from "vitest";
import { type FragmentSample, TrackJoiner, writeAudioFragment, writeVideoFragment } from "./index.ts";

const samples = (count: number, fill: number): FragmentSample[] =>
  Array.from({ length: count }, (_, n) => ({
    time: 2 ** 33 + n * 3000,
    decodeTime: 2 ** 33 + n * 3000,
    duration: 3000,
    isIndependent: n === 0,
    data: new Uint8Array(20 + n).fill(fill + n),
  }));

function join(video: Uint8Array, audio: Uint8Array, step: number, room = 0): Buffer {
  const joiner = new TrackJoiner(video.byteLength, audio, video.byteLength + audio.byteLength + room);
  const out: Uint8Array[] = [];
  for (let at = 0; at < video.byteLength; at += step) out.push(...joiner.push(video.subarray(at, at + step)));
  return Buffer.concat([...out, ...joiner.end()]);
}

/** Type, offset and size of the boxes between two offsets. */
function boxes(bytes: Buffer, from: number, to: number) {
  const found: { type: string; at: number; size: number }[] = [];
  for (let at = from; at < to; at += bytes.readUInt32BE(at))
    found.push({ type: bytes.toString("latin1", at + 4, at + 8), at, size: bytes.readUInt32BE(at) });
  return found;
}

test.each([1, 7, 100, 4096])(
  "two tracks become one fragment of the announced size, for input in chunks of %i bytes",
  (step) => {
    const [pictures, sound] = [samples(5, 0), samples(9, 100)];
    const video = Buffer.concat(writeVideoFragment(7, pictures));
    const audio = Buffer.concat(writeAudioFragment(8, sound));
    const joined = join(video, audio, step, 20);
    expect(joined.byteLength).toBe(video.byteLength + audio.byteLength + 20);
    const outer = boxes(joined, 0, joined.byteLength);
    expect(outer.map(({ type }) => type)).toEqual(["moof", "mdat"]);
    const [, ...trafs] = boxes(joined, 8, outer[0]?.size ?? 0);
    expect(trafs.map(({ type }) => type)).toEqual(["traf", "traf"]);
    const media = trafs.map(({ at, size }) => {
      const [tfhd, , trun] = boxes(joined, at + 8, at + size);
      const from = joined.readUInt32BE((trun?.at ?? 0) + 16);
      return {
        track: joined.readUInt32BE((tfhd?.at ?? 0) + 12),
        bytes: (size: number) => joined.subarray(from, from + size),
      };
    });
    expect(media.map(({ track }) => track)).toEqual([1, 2]);
    for (const [n, some] of [pictures, sound].entries()) {
      const wanted = Buffer.concat(some.map(({ data }) => data));
      expect(media[n]?.bytes(wanted.byteLength)).toEqual(wanted);
    }
  },
);

test("two tracks are not joined if the first has several fragments in the segment", () => {
  const video = Buffer.concat(writeVideoFragment(1, samples(2, 0)));
  const audio = Buffer.concat(writeAudioFragment(2, samples(2, 50)));
  const twice = (bytes: Buffer) => Buffer.concat([bytes, bytes]);
  for (const [first, second] of [
    [twice(video), audio],
    [video, twice(audio)],
    [Buffer.alloc(3), audio],
  ] as const)
    for (const step of [5, 4096]) expect(join(first, second, step)).toEqual(Buffer.concat([first, second]));
});
