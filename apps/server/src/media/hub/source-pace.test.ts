import { expect, test } from "vitest";
import { Payload } from "../packet.ts";
import { type Arrival, type SourceShape, syntheticSource } from "../testing/synthetic-source.ts";
import { SourcePace } from "./source-pace.ts";

/** Send packets at these times, and later where the pace demands it; returns how long the sender waited in all. */
function waited(shape: SourceShape, change: (arrival: Arrival) => Arrival = (same) => same): number {
  const pace = new SourcePace();
  let lateMs = 0;
  for (const arrival of syntheticSource(shape)) {
    const { at, packet } = change(arrival);
    pace.packet(packet, at + lateMs);
    lateMs += pace.waitMs(at + lateMs);
  }
  return lateMs;
}

test.each([
  ["in real time", ({ at, packet }: Arrival) => ({ at, packet })],
  ["with a backlog of 8 s", ({ at, packet }: Arrival) => ({ at: Math.max(8000, at), packet })],
  [
    "with a backlog of 4 s every 10 s",
    ({ at, packet }: Arrival) => ({ at: at + Math.max(0, 4000 - (at % 10_000)), packet }),
  ],
  ["with a clock that is half a percent fast", ({ at, packet }: Arrival) => ({ at: at * 0.995, packet })],
  [
    "with a clock that jumps by an hour",
    ({ at, packet }: Arrival) => ({ at, packet: moved(packet, at > 9000 ? 3600 : 0) }),
  ],
  ["with times that go back and forth", ({ at, packet }: Arrival) => ({ at, packet: moved(packet, (at % 200) / 250) })],
])("a source that sends %s is never held back", (_, change) => {
  expect(waited({ seconds: 3000, frameRate: 25, audio: false }, change)).toBe(0);
});

test("a source of many times real time is slowed to real time, 10 s ahead of it", () => {
  const atOnce = ({ packet }: Arrival) => ({ at: 0, packet });
  const waitedMs = waited({ seconds: 120 }, atOnce);
  expect(waitedMs / 1000).toBeGreaterThan((120 - 11) / 1.01);
  expect(waitedMs / 1000).toBeLessThan(120 - 9);
});

test("a source whose two tracks run ahead by turns, 1.5 s at a step, is slowed down too", () => {
  const pace = new SourcePace();
  for (let step = 0; step < 40; step++) {
    const dts = step * 0.75 * 90_000;
    const kind = step % 2 === 0 ? "video" : "audio";
    const data = new Payload(new Uint8Array(1));
    pace.packet({ trackId: step % 2, kind, dts, pts: dts, isIndependent: true, data }, 0);
  }
  expect(pace.waitMs(0)).toBeGreaterThan(15_000);
});

test("one wait is short enough that a source never looks silent", () => {
  const pace = new SourcePace();
  let longest = 0;
  for (let packet = 0; packet < 200; packet++) {
    const dts = packet * 90_000;
    pace.packet(
      { trackId: 1, kind: "audio", dts, pts: dts, isIndependent: true, data: new Payload(new Uint8Array(1)) },
      longest,
    );
    longest = Math.max(longest, packet < 12 ? pace.waitMs(longest) : 0);
  }
  expect(longest).toBeGreaterThan(0);
  expect(longest).toBeLessThan(2500);
});

function moved(packet: Arrival["packet"], seconds: number): Arrival["packet"] {
  return { ...packet, dts: packet.dts + seconds * 90_000, pts: packet.pts + seconds * 90_000 };
}
