import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { H264Depacketizer, type RtpPicture } from "./index.ts";
import { rtpPacket } from "./rtp-packets.fixture.ts";

const SPS = [0x67, 1, 2];
const PPS = [0x68, 3];
const STAP = [0x78, 0, SPS.length, ...SPS, 0, PPS.length, ...PPS];

/** Splits a NAL unit into fragments of two bytes. */
function fragments(unit: readonly number[]): number[][] {
  const [header = 0, ...body] = unit;
  const pieces: number[][] = [];
  for (let at = 0; at < body.length; at += 2) {
    const start = at === 0 ? 0x80 : 0;
    const end = at + 2 >= body.length ? 0x40 : 0;
    pieces.push([(header & 0xe0) | 28, start | end | (header & 0x1f), ...body.slice(at, at + 2)]);
  }
  return pieces;
}

function collect() {
  const pictures: RtpPicture[] = [];
  return { pictures, depacketizer: new H264Depacketizer((picture) => pictures.push(picture)) };
}

const units = ({ data }: RtpPicture): number[][] => {
  const found: number[][] = [];
  for (let at = 0; at < data.length; at += 4 + (data[at + 3] ?? 0))
    found.push([...data.subarray(at + 4, at + 4 + (data[at + 3] ?? 0))]);
  return found;
};

describe("H264Depacketizer", () => {
  it("assembles single units, aggregates and fragments into pictures", () => {
    const { pictures, depacketizer } = collect();
    const idr = [0x65, 1, 2, 3, 4, 5];
    const payloads = [STAP, ...fragments(idr)];
    for (const [index, payload] of payloads.entries()) {
      const marker = index === payloads.length - 1;
      depacketizer.push(rtpPacket(payload, { sequence: index, timestamp: 90, marker }), false);
    }
    depacketizer.push(rtpPacket([0x41, 9], { sequence: 9, timestamp: 3090, marker: true }), false);
    expect(pictures.map(({ timestamp, isDamaged }) => [timestamp, isDamaged])).toEqual([
      [90, false],
      [3090, false],
    ]);
    expect(pictures.map(units)).toEqual([[SPS, PPS, idr], [[0x41, 9]]]);
  });

  it("starts a new picture at a new timestamp if the marker is missing", () => {
    const { pictures, depacketizer } = collect();
    depacketizer.push(rtpPacket([0x41, 1], { sequence: 1, timestamp: 0 }), false);
    depacketizer.push(rtpPacket([0x41, 2], { sequence: 2, timestamp: 3000, marker: true }), false);
    expect(pictures.map(units)).toEqual([[[0x41, 1]], [[0x41, 2]]]);
  });

  it("marks pictures as damaged if a gap may have cost them packets", () => {
    const { pictures, depacketizer } = collect();
    const [first = [], , last = []] = fragments([0x65, 1, 2, 3, 4, 5, 6]);
    depacketizer.push(rtpPacket(first, { sequence: 1, timestamp: 0 }), false);
    depacketizer.push(rtpPacket(last, { sequence: 3, timestamp: 0, marker: true }), true);
    depacketizer.push(rtpPacket([0x41, 1], { sequence: 4, timestamp: 3000 }), false);
    depacketizer.push(rtpPacket([0x41, 2], { sequence: 6, timestamp: 6000, marker: true }), true);
    depacketizer.push(rtpPacket([0x41, 3], { sequence: 7, timestamp: 9000, marker: true }), false);
    expect(pictures.map(({ timestamp, isDamaged }) => [timestamp, isDamaged])).toEqual([
      [3000, true],
      [6000, true],
      [9000, false],
    ]);
  });

  it("makes whole units of arbitrary bytes, never more than arrived", () => {
    const packet = fc.record({
      payload: fc.array(fc.nat(255), { maxLength: 9 }),
      sequence: fc.nat(0xffff),
      timestamp: fc.nat(3),
      marker: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(packet, { maxLength: 60 }), (packets) => {
        const { pictures, depacketizer } = collect();
        for (const { payload, ...header } of packets) depacketizer.push(rtpPacket(payload, header), false);
        const bytes = (sum: number, { length }: { length: number }) => sum + length;
        const arrived = packets.map(({ payload }) => payload).reduce(bytes, 0);
        const found = pictures.flatMap(units);
        expect(found.every((unit) => unit.length > 0)).toBe(true);
        expect(found.reduce(bytes, 0)).toBeLessThanOrEqual(arrived);
      }),
      { numRuns: 500 },
    );
  });
});
