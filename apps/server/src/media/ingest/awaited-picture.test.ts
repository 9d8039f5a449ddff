import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { silentLog } from "../../platform/log.ts";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import type { SourcePacket } from "../packet.ts";
import { FakeChildren } from "../testing/fake-transcoder.ts";
import { AwaitedPicture } from "./awaited-picture.ts";
import { PLAIN_MEMORY } from "./ingest-rig.ts";
import { TsToPackets } from "./ts/ts-to-packets.ts";

const TICKS_PER_SECOND = 90_000;
const TS = readFileSync(new URL("../../../../../packages/formats/src/ts/corpus/avc-adts.m2t", import.meta.url));
const PACKET = 188;

it("sound is left out until the first picture of announced video, for at most 10 s; without announced video it is not", () => {
  const never = new AwaitedPicture();
  expect(never.leavesOut(0)).toBe(false);
  const comes = new AwaitedPicture();
  comes.announced();
  expect([comes.leavesOut(5), comes.leavesOut(9 * TICKS_PER_SECOND)]).toEqual([true, true]);
  comes.settled();
  comes.announced();
  expect(comes.leavesOut(9 * TICKS_PER_SECOND)).toBe(false);
  const late = new AwaitedPicture();
  late.announced();
  expect([late.leavesOut(5), late.leavesOut(5 + 10 * TICKS_PER_SECOND), late.leavesOut(0)]).toEqual([
    true,
    false,
    false,
  ]);
  const restarted = new AwaitedPicture();
  restarted.announced();
  expect([restarted.leavesOut(2 ** 32), restarted.leavesOut(0)]).toEqual([true, false]);
});

it("a transport stream that is joined in the middle begins with its next keyframe, not with sound alone", () => {
  const packets: SourcePacket[] = [];
  const sink = { track: () => {}, packet: (packet: SourcePacket) => void packets.push(packet) };
  const settings = { clock: new ManualClock(), log: silentLog, children: new FakeChildren(), memory: PLAIN_MEMORY };
  const reader = new TsToPackets(sink, settings);
  // The tables, then what follows the keyframe; after it the stream from its beginning.
  const joined = Buffer.concat([TS.subarray(0, 3 * PACKET), TS.subarray(Math.floor(TS.length / PACKET / 3) * PACKET)]);
  reader.push(joined);
  reader.push(TS);
  reader.end();
  expect(packets[0]).toMatchObject({ kind: "video", isIndependent: true });
  expect(packets.filter(({ kind }) => kind === "audio").length).toBeGreaterThan(20);
});
