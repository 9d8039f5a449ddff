import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AacDepacketizer, DecodeTimes, HevcDepacketizer, type RtpAudioFrame, type RtpPicture } from "./index.ts";
import { rtpPacket } from "./rtp-packets.fixture.ts";

const AAC_HBR = { sizeLength: 13, indexLength: 3, indexDeltaLength: 3 };

function aac() {
  const frames: RtpAudioFrame[] = [];
  return { frames, depacketizer: new AacDepacketizer(AAC_HBR, (frame) => frames.push(frame)) };
}

const header = (bytes: number) => [bytes >> 5, (bytes << 3) & 0xff];

describe("AacDepacketizer", () => {
  it("reads several frames of a packet, and one of several packets", () => {
    const { frames, depacketizer } = aac();
    depacketizer.push(
      rtpPacket([0, 32, ...header(2), ...header(3), 1, 2, 3, 4, 5], { sequence: 1, timestamp: 7 }),
      false,
    );
    depacketizer.push(rtpPacket([0, 16, ...header(4), 6, 7, 8], { sequence: 2, timestamp: 9 }), false);
    depacketizer.push(rtpPacket([0, 16, ...header(4), 9], { sequence: 3, timestamp: 9, marker: true }), false);
    expect(frames.map(({ timestamp, index, data }) => [timestamp, index, [...data]])).toEqual([
      [7, 0, [1, 2]],
      [7, 1, [3, 4, 5]],
      [9, 0, [6, 7, 8, 9]],
    ]);
  });

  it("a frame of which a packet was lost is left out", () => {
    const { frames, depacketizer } = aac();
    depacketizer.push(rtpPacket([0, 16, ...header(6), 6, 7, 8], { sequence: 2 }), false);
    depacketizer.push(rtpPacket([0, 16, ...header(1), 5], { sequence: 4, timestamp: 1 }), true);
    expect(frames.map(({ data }) => [...data])).toEqual([[5]]);
  });

  it("gives out no more than arrived, of any bytes", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.uint8Array({ maxLength: 30 }), fc.boolean()), { maxLength: 30 }), (packets) => {
        const { frames, depacketizer } = aac();
        for (const [payload, isAfterGap] of packets) depacketizer.push(rtpPacket(payload, { sequence: 1 }), isAfterGap);
        const arrived = packets.reduce((sum, [{ length }]) => sum + length, 0);
        expect(frames.reduce((sum, { data }) => sum + data.length, 0)).toBeLessThanOrEqual(arrived);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("HevcDepacketizer", () => {
  const collect = () => {
    const pictures: RtpPicture[] = [];
    return { pictures, depacketizer: new HevcDepacketizer((picture) => pictures.push(picture)) };
  };

  it("assembles single units, aggregates and fragments", () => {
    const { pictures, depacketizer } = collect();
    const payloads = [
      [0x40, 1, 5],
      [0x60, 1, 0, 3, 0x42, 1, 6, 0, 3, 0x44, 1, 7],
      [0x62, 1, 0x80 | 19, 1, 2],
      [0x62, 1, 19, 3],
      [0x62, 1, 0x40 | 19, 4],
    ];
    for (const [sequence, payload] of payloads.entries())
      depacketizer.push(rtpPacket(payload, { sequence, timestamp: 5, marker: sequence === 4 }), false);
    const data = [
      0, 0, 0, 3, 0x40, 1, 5, 0, 0, 0, 3, 0x42, 1, 6, 0, 0, 0, 3, 0x44, 1, 7, 0, 0, 0, 6, 0x26, 1, 1, 2, 3, 4,
    ];
    expect(pictures).toEqual([{ timestamp: 5, isDamaged: false, data: Uint8Array.from(data) }]);
  });

  it("makes no more of any bytes than arrived", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 12 }), { maxLength: 60 }), (payloads) => {
        const { pictures, depacketizer } = collect();
        for (const [sequence, payload] of payloads.entries())
          depacketizer.push(rtpPacket(payload, { sequence, marker: sequence % 7 === 6 }), false);
        const bytes = pictures.reduce((sum, { data }) => sum + data.length, 0);
        // Each unit of an aggregate gets a length of four bytes for one of two.
        expect(bytes).toBeLessThanOrEqual(payloads.reduce((sum, { length }) => sum + length * 2 + 4, 0));
      }),
      { numRuns: 500 },
    );
  });
});

describe("DecodeTimes", () => {
  /** In decoding order: groups of I P B B. */
  const group = (start: number) => [0, 3, 1, 2].map((at) => ({ time: (start + at) * 3000, isIndependent: at === 0 }));

  it("pictures in order are decoded when they are presented", () => {
    const times = new DecodeTimes();
    expect([0, 3000, 6000].map((time, at) => times.next(time, at === 0))).toEqual([0, 3000, 6000]);
  });

  it("with a declared depth decoding times rise and never exceed presentation", () => {
    const times = new DecodeTimes();
    times.configure(1, 30);
    const pictures = [group(0), group(4), group(8)].flat();
    const decoded = pictures.map(({ time, isIndependent }) => times.next(time, isIndependent));
    expect(decoded).toEqual(Array.from({ length: 12 }, (_, at) => (at - 1) * 3000));
  });

  it("without one the rest of the first group is left out, and the next begins in order", () => {
    const times = new DecodeTimes();
    const pictures = [group(0), group(4)].flat();
    expect(pictures.map(({ time, isIndependent }) => times.next(time, isIndependent))).toEqual([
      ...[0, 9000, null, null],
      ...[9000, 12_000, 15_000, 18_000],
    ]);
  });

  it("after a jump of the clock it begins anew", () => {
    const times = new DecodeTimes();
    times.configure(1, 30);
    times.next(0, true);
    expect(times.next(9_000_000, false)).toBe(8_997_000);
  });
});
