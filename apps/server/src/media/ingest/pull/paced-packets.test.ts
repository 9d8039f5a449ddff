import { expect, it } from "vitest";
import { ManualClock } from "../../../platform/manual-clock-rig.ts";
import { Payload, type SourcePacket } from "../../packet.ts";
import { PacedMemory } from "./paced-memory.ts";
import { PacedPackets } from "./paced-packets.ts";

function rig({ memory: shared = new PacedMemory(), onPacket = () => {} } = {}) {
  const clock = new ManualClock();
  const passed: { seconds: number; at: number }[] = [];
  let released = 0;
  const paced = new PacedPackets(
    {
      track: () => {},
      packet: ({ dts }) => {
        passed.push({ seconds: dts / 90_000, at: clock.monotonic() / 1000 });
        onPacket();
      },
    },
    clock,
    shared,
  );
  const memory = { release: () => void released++ };
  const packet = (seconds: number, { trackId = 0, bytes = 100 } = {}): SourcePacket => ({
    ...{ trackId, kind: trackId === 0 ? "video" : "audio", dts: seconds * 90_000, pts: seconds * 90_000 },
    ...{ isIndependent: true, data: new Payload(new Uint8Array(bytes), memory) },
  });
  return { clock, paced, passed, packet, released: () => released };
}

it("a segment that comes at once is passed on in real time", () => {
  const { clock, paced, passed, packet } = rig();
  const startedAt = clock.monotonic() / 1000;
  for (let i = 0; i < 60; i++) paced.packet(packet(1000 + i / 10));
  expect(passed).toHaveLength(1);
  clock.advance(3_000);
  expect(passed.length).toBeGreaterThanOrEqual(30);
  expect(passed.length).toBeLessThanOrEqual(32);
  clock.advance(3_000);
  expect(passed).toHaveLength(60);
  for (const { seconds, at } of passed) expect(Math.abs(seconds - 1000 - (at - startedAt))).toBeLessThan(0.05);
});

it("what comes late goes at once, and what follows goes in real time from there", () => {
  const { clock, paced, passed, packet } = rig();
  paced.packet(packet(0));
  clock.advance(4_000);
  for (let i = 1; i <= 20; i++) paced.packet(packet(i / 10));
  expect(passed).toHaveLength(1 + 1);
  clock.advance(1_000);
  expect(passed.length).toBeLessThan(14);
});

it("a jump of the clock by hours holds nothing up", () => {
  const { clock, paced, passed, packet } = rig();
  paced.packet(packet(5));
  paced.packet(packet(5, { trackId: 1 }));
  paced.packet(packet(90_000));
  paced.packet(packet(5.1, { trackId: 1 }));
  paced.packet(packet(1));
  clock.advance(200);
  expect(passed).toHaveLength(5);
});

it("reading waits at ten seconds ahead, and goes on when they have passed", async () => {
  const { clock, paced, packet } = rig();
  let isRoom = false;
  for (let i = 0; i <= 120; i++) paced.packet(packet(i / 10));
  void paced.room().then(() => {
    isRoom = true;
  });
  await Promise.resolve();
  expect(isRoom).toBe(false);
  clock.advance(2_500);
  await Promise.resolve();
  expect(isRoom).toBe(true);
});

it("closed in the middle, it gives all memory back and lets its reader go", async () => {
  const { paced, packet, released } = rig();
  paced.track({
    id: 1,
    kind: "audio",
    codec: "aac",
    config: new Uint8Array(),
    codecString: "",
    sampleRate: 1,
    channels: 1,
    frameSamples: 1024,
  });
  for (let i = 0; i < 5; i++) paced.packet(packet(i, { bytes: 4 * 1024 * 1024 }));
  const waits = paced.room();
  paced.close();
  await waits;
  paced.packet(packet(9));
  expect(released()).toBe(5);
});

it("what was passed on is not released again when the stream is closed meanwhile", () => {
  const one: ReturnType<typeof rig> = rig({ onPacket: () => one.passed.length === 3 && one.paced.close() });
  one.paced.hold();
  for (let i = 0; i < 10; i++) one.paced.packet(one.packet(0, { trackId: i }));
  one.paced.goOn();
  expect([one.passed.length, one.released()]).toEqual([3, 7]);
});

it("five hundred pulls together read ahead a bounded amount, and each goes on in its turn", async () => {
  const memory = new PacedMemory();
  const pulls = Array.from({ length: 500 }, () => rig({ memory }));
  const hasRoom = async ({ paced }: ReturnType<typeof rig>) => {
    let isRoom = false;
    void paced.room().then(() => {
      isRoom = true;
    });
    await Promise.resolve();
    return isRoom;
  };
  const data = { bytes: 256 * 1024 };
  // Each reads until it is told to wait; 9.6 s are less than a pull may be ahead.
  for (const pull of pulls)
    for (let i = 0; i < 40 && (await hasRoom(pull)); i++) pull.paced.packet(pull.packet(i * 0.24, data));
  expect(memory.bytes).toBeLessThan((256 + 500) * 1024 * 1024);
  const last = pulls.at(-1);
  if (!last) throw new Error("there is no pull");
  expect(await hasRoom(last)).toBe(false);
  last.clock.advance(1_000);
  expect(await hasRoom(last)).toBe(true);
  for (const { paced } of pulls) paced.close();
  expect(memory.bytes).toBe(0);
});

it("a source of tiny packets, all of the same time, reads ahead a bounded number of them", async () => {
  const { paced, packet } = rig();
  for (const seconds of [0, 4.9, 9.8]) paced.packet(packet(seconds));
  let isRoom = true;
  let kept = 0;
  // One byte each: 8 MiB of those are eight million.
  for (; isRoom && kept < 50_000; kept++) {
    paced.packet(packet(9.8, { bytes: 1 }));
    isRoom = false;
    void paced.room().then(() => {
      isRoom = true;
    });
    await Promise.resolve();
  }
  expect(kept).toBeLessThan(50_000);
  paced.close();
});

it("a file is ahead of real time at its end, a live source is not, though it began with some seconds at once", () => {
  const file = rig();
  for (let i = 0; i < 30; i++) file.paced.packet(file.packet(i / 10));
  expect(file.paced.isAhead).toBe(true);
  const live = rig();
  for (let i = 0; i < 30; i++) live.paced.packet(live.packet(i / 10));
  for (let i = 30; i < 100; i++) {
    live.clock.advance(100);
    live.paced.packet(live.packet(i / 10));
  }
  expect(live.paced.isAhead).toBe(false);
});

it("picture and sound that come a second apart are passed on together", () => {
  const { clock, paced, passed, packet } = rig();
  for (let second = 0; second < 3; second++)
    for (const trackId of [0, 1]) for (let i = 0; i < 10; i++) paced.packet(packet(second + i / 10, { trackId }));
  for (let i = 0; i < 40; i++) clock.advance(100);
  const seconds = passed.map((one) => one.seconds);
  expect(seconds).toHaveLength(60);
  expect(seconds.slice(2)).toEqual(seconds.slice(2).toSorted((a, b) => a - b));
});
