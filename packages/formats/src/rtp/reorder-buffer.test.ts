import { describe, expect, it } from "vitest";
import { ReorderBuffer } from "./index.ts";
import { rtpPacket } from "./rtp-packets.fixture.ts";

function collect() {
  const released: (number | string)[] = [];
  const buffer = new ReorderBuffer(({ sequence }, isAfterGap) =>
    released.push(isAfterGap ? `gap ${sequence}` : sequence),
  );
  const push = (sequence: number, now = 0) => buffer.push(rtpPacket([], { sequence }), now);
  return { released, buffer, push };
}

describe("ReorderBuffer", () => {
  it("orders packets across a sequence number wrap and drops duplicates", () => {
    const { released, push } = collect();
    for (const sequence of [65_534, 0, 65_535, 65_535, 2, 1, 0]) push(sequence);
    expect(released).toEqual([65_534, 65_535, 0, 1, 2]);
  });

  it("requests missing packets at most three times and gives them up after 250 ms", () => {
    const { released, buffer, push } = collect();
    for (const sequence of [10, 13, 14]) push(sequence, 0);
    expect(buffer.wanted(0)).toEqual([11, 12]);
    expect(buffer.wanted(30)).toEqual([]);
    push(12, 50);
    expect(buffer.wanted(60)).toEqual([11]);
    expect(buffer.wanted(120)).toEqual([11]);
    expect(buffer.wanted(240)).toEqual([]);
    buffer.tick(249);
    expect(released).toEqual([10]);
    buffer.tick(250);
    expect(released).toEqual([10, "gap 12", 13, 14]);
    expect(buffer.statistics).toEqual({ expected: 5, lost: 1, highestSequence: 14 });
  });

  it("gives up a gap early if too many packets wait, and restarts when the sequence numbers jump", () => {
    const { released, buffer, push } = collect();
    push(0);
    for (let sequence = 2; sequence < 2000; sequence++) push(sequence);
    expect(released).toHaveLength(1999);
    push(30_000);
    push(30_001);
    expect(released.slice(-2)).toEqual(["gap 30000", 30_001]);
    expect(buffer.wanted(0)).toEqual([]);
  });

  it("starts over if too many packets are missing, so that a sender that skips most numbers costs little", () => {
    const { released, buffer, push } = collect();
    const began = performance.now();
    for (let sent = 0; sent < 3_000; sent++) push((sent * 2_999) & 0xffff, sent / 10);
    buffer.tick(1_000);
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(buffer.wanted(1_000).length).toBeLessThan(3_500);
    expect(released.length).toBeGreaterThan(1_000);
  });
});
