import { expect, test } from "vitest";
import { MAX_FRAME_BYTES, messageReader } from "../../platform/pipe-frames.ts";
import { type FromChild, frameOf, type ToChild } from "./transcode-protocol.ts";

const TO_CHILD: readonly ToChild[] = [
  {
    type: "start",
    start: {
      video: { codec: "hevc", config: "AQID", width: 1280, height: 720 },
      rungs: [
        {
          index: 3,
          width: 854,
          height: 480,
          bitrateBps: 1_400_000,
          frameRate: { num: 30_000, den: 1001 },
          profile: "high",
          quality: null,
          keyframeSeconds: null,
          level: "3.1",
        },
      ],
      preset: "superfast",
      encoder: "libx264",
    },
  },
  { type: "cut", msn: 4_000_000_000, ticks: 2 ** 52 + 1 },
  { type: "skip-until", ticks: 180_000.5 },
  { type: "rungs", rungs: [] },
  { type: "packet", isIndependent: true, dts: -6000, pts: 2 ** 52, data: Buffer.from([0, 0, 0, 1, 9]) },
  { type: "packet", isIndependent: false, dts: 1, pts: 2, data: Buffer.alloc(0) },
  { type: "flush", id: 7 },
  { type: "sheet", job: { id: 4, columns: 10, tileWidth: 160, tileHeight: 90 }, data: Buffer.from([1, 2]) },
];

const FROM_CHILD: readonly FromChild[] = [
  { type: "ready", rungs: [{ index: 3, config: "AQID", codecString: "avc1.64001f" }] },
  { type: "loaded" },
  {
    type: "packet",
    rung: 255,
    isIndependent: true,
    isFirstOfSegment: true,
    msn: 12,
    dts: 1,
    pts: 2,
    data: Buffer.from([7]),
  },
  {
    type: "packet",
    rung: 0,
    isIndependent: false,
    isFirstOfSegment: false,
    msn: 12,
    dts: 3,
    pts: 3,
    data: Buffer.alloc(300, 5),
  },
  { type: "flushed", id: 7 },
  { type: "dropped", rungs: [0, 2] },
  { type: "progress", packets: 4_000_000_000, busyMs: 87_000.25 },
  { type: "error", code: "decode", message: "The picture – broken.", isFatal: false },
];

test.each([1, 3, 64, 100_000])("messages come back whole from pieces of %i bytes", (size) => {
  const readTo = messageReader<ToChild>();
  const readFrom = messageReader<FromChild>();
  expect(pieces(TO_CHILD.map(frameOf), size).flatMap(readTo)).toEqual(TO_CHILD);
  expect(pieces(FROM_CHILD.map(frameOf), size).flatMap(readFrom)).toEqual(FROM_CHILD);
});

test("a frame is its length, its type, and JSON with its length before the bytes of media", () => {
  const json = '{"type":"flush","id":258}';
  expect(Buffer.from(frameOf({ type: "flush", id: 258 })).toString("latin1")).toBe(`\0\0\0\x1a\x01${json}`);
  const audio = '{"type":"audio","pts":0.5}';
  const frame = frameOf({ type: "audio", pts: 0.5, data: Buffer.from("AB") });
  expect(Buffer.from(frame).toString("latin1")).toBe(`\0\0\0\x21\x02\0\0\0\x1a${audio}AB`);
});

test("a message that was read keeps its bytes while the pipe's buffer is used again", () => {
  const read = messageReader<ToChild>();
  const bytes = frameOf({ type: "packet", isIndependent: true, dts: 0, pts: 0, data: Buffer.from([1, 2, 3]) });
  const [message] = read(bytes);
  bytes.fill(0);
  expect(message).toMatchObject({ data: Buffer.from([1, 2, 3]) });
});

test.each([
  ["a length of zero", [0, 0, 0, 0]],
  ["a length above the limit", [...Buffer.from((MAX_FRAME_BYTES + 1).toString(16).padStart(8, "0"), "hex")]],
  ["an unknown type", [0, 0, 0, 1, 200]],
  ["a message that is cut short", [0, 0, 0, 2, 2, 0]],
])("%s is an error", (_, bytes) => {
  expect(() => messageReader<ToChild>()(Uint8Array.from(bytes))).toThrow(RangeError);
  expect(() => messageReader<FromChild>()(Uint8Array.from(bytes))).toThrow(RangeError);
});

function pieces(frames: readonly Uint8Array[], size: number): Uint8Array[] {
  const bytes = Buffer.concat(frames);
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
}
