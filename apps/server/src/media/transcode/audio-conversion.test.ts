import { expect, test } from "vitest";
import { silentLog } from "../../platform/log.ts";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import { AudioConversion } from "./audio-conversion.ts";
import type { TranscodeChildHandler, TranscodeChildren } from "./transcode-child-process.ts";

test("a child that hangs is replaced; one that is slow is not", () => {
  const clock = new ManualClock();
  const handlers: TranscodeChildHandler[] = [];
  let kills = 0;
  const children: TranscodeChildren = {
    take(handler) {
      handlers.push(handler);
      return { pid: handlers.length, isLoaded: true, backlogBytes: 0, send: () => {}, kill: () => kills++ };
    },
    start: (handler) => children.take(handler),
  };
  const conversion = new AudioConversion({
    ...{ clock, log: silentLog, children },
    source: { codec: "opus", config: "", sampleRate: 48_000, channels: 2 },
    target: { codec: "aac", channels: 2, bitrateBps: 128_000 },
    onPacket: () => {},
  });
  const pushFor = (seconds: number, isAlive: boolean): void => {
    for (let at = 0; at < seconds * 50; at++) {
      clock.advance(20);
      conversion.push(at * 1_800, Uint8Array.of(1));
      if (isAlive && at % 25 === 0) handlers.at(-1)?.message({ type: "progress", packets: at / 2, busyMs: 0 });
    }
  };
  pushFor(60, true);
  expect([handlers.length, kills]).toEqual([1, 0]);
  pushFor(5, false);
  expect([handlers.length, kills]).toEqual([2, 1]);
  conversion.close();
});

test("sound that ends each child after its first packet is given up, and starts no process for ever", () => {
  const clock = new ManualClock();
  const handlers: TranscodeChildHandler[] = [];
  const children: TranscodeChildren = {
    take(handler) {
      handlers.push(handler);
      return { pid: handlers.length, isLoaded: true, backlogBytes: 0, send: () => {}, kill: () => {} };
    },
    start: (handler) => children.take(handler),
  };
  const conversion = new AudioConversion({
    ...{ clock, log: silentLog, children },
    source: { codec: "opus", config: "", sampleRate: 48_000, channels: 2 },
    target: { codec: "aac", channels: 2, bitrateBps: 128_000 },
    onPacket: () => {},
  });
  const oneDies = (afterMs: number): void => {
    const handler = handlers.at(-1);
    clock.advance(afterMs);
    handler?.message({ type: "audio", pts: 0, data: Uint8Array.of(1) });
    handler?.exited("it crashed");
    clock.advance(5_000);
  };
  // Children that work for a while and die are replaced each time.
  for (let nth = 0; nth < 10; nth++) oneDies(6_000);
  expect(handlers).toHaveLength(11);
  for (let nth = 0; nth < 20; nth++) oneDies(0);
  expect(handlers).toHaveLength(14);
  conversion.close();
});
