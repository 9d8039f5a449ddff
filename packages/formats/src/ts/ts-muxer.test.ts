import { expect, test } from "vitest";
import { FormatError } from "../bits/index.ts";
import { AVC } from "../codecs/decoder-configs.fixture.ts";
import { TS_PACKET_BYTES, TsMuxer, type TsTracks, type TsUnit } from "./index.ts";

const FRAME_TICKS = 1920;
const tracks: TsTracks = {
  video: { codec: "avc", config: AVC.baseline360p },
  audio: { config: Uint8Array.of(0x11, 0x90) },
};

/** A picture with one NAL unit. */
function picture(ticks: number, bytes = 1000, isIndependent = true): TsUnit {
  const data = new Uint8Array(4 + bytes).fill(0xab);
  new DataView(data.buffer).setUint32(0, bytes);
  data[4] = 0x65;
  return { kind: "video", decodeTicks: ticks, presentationTicks: ticks + 3000, isIndependent, data };
}

const sound = (ticks: number): TsUnit => ({
  ...{ kind: "audio", decodeTicks: ticks, presentationTicks: ticks, isIndependent: true },
  data: new Uint8Array(200).fill(0xcd),
});

function packetsOf(muxer: TsMuxer, units: readonly TsUnit[]): Uint8Array[] {
  const packets: Uint8Array[] = [];
  for (const unit of units) {
    muxer.write(unit, (bytes) => {
      const out = new Uint8Array(bytes);
      for (let at = 0; at < bytes; at += TS_PACKET_BYTES) packets.push(out.subarray(at, at + TS_PACKET_BYTES));
      return out;
    });
  }
  return packets;
}

const muxerOf = (of: TsTracks): TsMuxer => {
  const muxer = new TsMuxer();
  muxer.begin(of);
  return muxer;
};

const pidOf = ([, high = 0, low = 0]: Uint8Array) => ((high & 0x1f) << 8) | low;
const hasPayload = ([, , , control = 0]: Uint8Array) => (control & 0x10) !== 0;
/** The clock reference in 90 kHz ticks; null for a packet without one. */
function clockOf(packet: Uint8Array): number | null {
  const [, , , control = 0, length = 0, flags = 0] = packet;
  if ((control & 0x20) === 0 || length < 7 || (flags & 0x10) === 0) return null;
  const view = new DataView(packet.buffer, packet.byteOffset);
  return view.getUint32(6) * 2 + ((packet[10] ?? 0) >> 7);
}

test("continuity counters have no gaps, even when the tracks change", () => {
  const muxer = muxerOf(tracks);
  const units = Array.from({ length: 40 }, (_, n) =>
    n % 3 === 0 ? picture(n * FRAME_TICKS, n * 50) : sound(n * 1920),
  );
  const packets = packetsOf(muxer, units);
  muxer.begin({ ...tracks, audio: null });
  packets.push(...packetsOf(muxer, [picture(100 * FRAME_TICKS)]));
  const counts = new Map<number, number>();
  for (const packet of packets) {
    expect(packet[0]).toBe(0x47);
    const before = counts.get(pidOf(packet)) ?? -1;
    const count = (packet[3] ?? 0) & 15;
    expect(count).toBe(hasPayload(packet) ? (before + 1) & 15 : before & 15);
    counts.set(pidOf(packet), count);
  }
  expect([...counts.keys()].sort((a, b) => a - b)).toEqual([0, 0x100, 0x101, 0x1000]);
});

test("the clock reference is sent every 100 ms, even without pictures, and never runs backwards", () => {
  const units = [picture(0), ...Array.from({ length: 100 }, (_, n) => sound(n * FRAME_TICKS)), picture(100_000)];
  const clocks = packetsOf(muxerOf(tracks), units).flatMap((packet) => {
    const clock = clockOf(packet);
    if (clock !== null) expect(pidOf(packet)).toBe(0x100);
    return clock ?? [];
  });
  expect(clocks.length).toBeGreaterThan(15);
  for (const [index, clock] of clocks.slice(1).entries()) {
    expect(clock).toBeGreaterThan(clocks[index] ?? 0);
    expect(clock - (clocks[index] ?? 0)).toBeLessThanOrEqual(9_000 + FRAME_TICKS);
  }
  const withoutPicture = packetsOf(muxerOf({ ...tracks, video: null }), [sound(0), sound(FRAME_TICKS)]);
  expect(withoutPicture.map(pidOf)).toEqual([0, 0x1000, 0x101, 0x101, 0x101, 0x101]);
  expect(withoutPicture.map(clockOf)).toEqual([null, null, 0, null, FRAME_TICKS, null]);
});

test("times wrap at 33 bits", () => {
  const [, , first] = packetsOf(muxerOf(tracks), [picture(2 ** 33 + 90_001)]);
  expect(first && clockOf(first)).toBe(90_001);
});

test("tables and parameter sets precede a keyframe, and pictures of any size fill their packets", () => {
  for (const bytes of [1, 100, 130, 150, 151, 152, 153, 154, 155, 183, 184, 185, 5_000, 100_000]) {
    const packets = packetsOf(muxerOf(tracks), [picture(0, bytes)]);
    expect(packets.slice(0, 3).map(pidOf)).toEqual([0, 0x1000, 0x100]);
    const payload = Buffer.concat(
      packets.slice(2).map((packet) => packet.subarray((packet[3] ?? 0) & 0x20 ? 5 + (packet[4] ?? 0) : 4)),
    );
    expect([...payload.subarray(19, 25)]).toEqual([0, 0, 0, 1, 0x09, 0xf0]);
    expect(payload.subarray(25, 30)).toEqual(Buffer.of(0, 0, 0, 1, 0x67));
    expect(payload.subarray(-bytes - 4, -bytes)).toEqual(Buffer.of(0, 0, 0, 1));
  }
});

test("unsupported tracks and malformed pictures are rejected", () => {
  const [muxer, nothing] = [muxerOf(tracks), () => new Uint8Array()];
  // ADTS has no index for 37.8 kHz, and its frames have 1024 samples.
  for (const config of [Uint8Array.of(0x17, 0x80, 0x49, 0xd4, 0x10), Uint8Array.of(0x11, 0x94)])
    expect(() => muxerOf({ ...tracks, audio: { config } })).toThrow(FormatError);
  expect(() => muxer.write({ ...picture(0), data: Uint8Array.of(0, 0, 1, 0, 0x65) }, nothing)).toThrow(FormatError);
  expect(() => muxer.write({ ...sound(0), data: new Uint8Array(9_000) }, nothing)).toThrow(FormatError);
});
