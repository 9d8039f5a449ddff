import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { until } from "../testing/media-rig.ts";
import { RecordingRig } from "../testing/recording-rig.ts";
import { RESERVED_BYTES, RESUME_BYTES } from "./spool-disk.ts";

let rig: RecordingRig;

beforeEach(async () => {
  rig = await RecordingRig.open();
});

afterEach(() => rig[Symbol.asyncDispose]());

const both = (...msns: number[]) => ["audio", "source"].flatMap((name) => msns.map((msn) => `${name}/${msn}`)).sort();
const told = () =>
  rig.facts.of("segment-closed").map(({ position, recorded }) => [position.nextMsn - 1, recorded.length]);
const failures = () => rig.facts.of("recording-failed").map(({ reason }) => reason);

async function end(): Promise<void> {
  await rig.finish();
  await rig.sealed();
  expect(await rig.left()).toEqual([]);
}

test("a running recording continues in a new chapter after sealing", async () => {
  await rig.record(3);
  await rig.finish();
  await rig.sealed();
  expect(await rig.whole()).toEqual(both(1, 2, 3));
  await rig.record(2);
  await end();
  expect(await rig.whole()).toEqual(both(1, 2, 3, 4, 5));
});

describe("temporary faults lose no segment", () => {
  test.each([
    ["no file handle was left", "open", "EMFILE"],
    ["no file handle was left on the machine", "open", "ENFILE"],
    ["the disk failed once", "writev", "EIO"],
    ["the disk was busy", "writev", "EAGAIN"],
  ] as const)("%s", async (_situation, operation, code) => {
    await rig.record(2);
    rig.faults.faults[operation] = Array(3).fill(code);
    await rig.record(15);
    await end();
    expect(rig.faults.faults[operation]).toEqual([]);
    expect(await rig.whole()).toHaveLength(34);
    expect(told()).toHaveLength(17);
    expect(failures()).toEqual([]);
  });

  test("a failed sync closes the chapter, and the next segment starts a new one", async () => {
    await rig.record(2);
    rig.faults.faults.datasync = ["EIO"];
    await rig.record(3);
    await end();
    expect(await rig.whole()).toEqual(both(1, 2, 3, 4, 5));
    expect(failures()).toEqual([]);
  });
});

test("a partial write is completed", async () => {
  rig.faults.maxWrite = 100;
  await rig.record(3);
  await end();
  expect(await rig.whole()).toEqual(both(1, 2, 3));
});

test("a disk that accepts no bytes is an error, and no row refers to missing bytes", async () => {
  await rig.record(2);
  rig.faults.maxWrite = 0;
  await rig.record(2);
  rig.faults.maxWrite = Number.POSITIVE_INFINITY;
  await rig.record(2);
  await end();
  expect(await rig.whole()).toEqual(both(1, 2, 5, 6));
  expect(told()).toEqual([
    [1, 2],
    [2, 2],
    [3, 0],
    [4, 0],
    [5, 2],
    [6, 2],
  ]);
  expect(failures()).toEqual(["part of the recording is missing: no space was left on the disk"]);
});

test("a disk that keeps failing loses the segments of that time, each reported once", async () => {
  await rig.record(1);
  rig.faults.faults.writev = Array(1000).fill("EIO");
  await rig.record(1);
  rig.faults.faults.writev = [];
  await rig.record(1);
  await end();
  expect(await rig.whole()).toEqual(both(1, 3));
  expect(told()).toEqual([
    [1, 2],
    [2, 0],
    [3, 2],
  ]);
  expect(failures()).toEqual(["part of the recording is missing: it could not be written (EIO)"]);
});

test("recording stops at the disk reserve, seals its chapters, and resumes when there is space", async () => {
  await rig.record(2);
  rig.freeBytes = RESERVED_BYTES - 1;
  await rig.record(1);
  await until(async () => (await rig.left()).length === 0, "the chapter to be sealed");
  expect(await rig.whole()).toEqual(both(1, 2));
  rig.freeBytes = RESUME_BYTES - 1;
  await rig.record(1);
  rig.freeBytes = RESUME_BYTES;
  await rig.record(2);
  await end();
  expect(await rig.whole()).toEqual(both(1, 2, 5, 6));
  expect(told()).toEqual([
    [1, 2],
    [2, 2],
    [3, 0],
    [4, 0],
    [5, 2],
    [6, 2],
  ]);
  expect(failures()).toEqual(["part of the recording is missing: no space was left on the disk"]);
});

test("a chapter is closed after 30 s", async () => {
  // 34 s. The disk takes time of the clock too, but not another 26 s.
  await rig.record(17);
  await rig.sealed();
  expect(new Set(rig.facts.of("span-sealed").map(({ span }) => span)).size).toBe(1);
  await end();
  expect(await rig.whole()).toHaveLength(34);
});

test("syncs run in the background; a slow disk reduces their number, not the recording's speed", async () => {
  await rig.record(3);
  const swift = rig.faults.syncs;
  rig.faults.stallSyncs();
  await rig.record(9);
  expect(told()).toHaveLength(12);
  rig.faults.releaseSyncs();
  await end();
  expect(rig.faults.syncs - swift).toBeLessThan(swift * 2);
});
