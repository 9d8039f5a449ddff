import { cp, readdir, rename, rm, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { initOfTrack } from "../packaging/init-of-track.ts";
import { until } from "../testing/media-rig.ts";
import { RecordingRig } from "../testing/recording-rig.ts";
import { AUDIO, VIDEO } from "../testing/synthetic-source.ts";

let rig: RecordingRig;

beforeEach(async () => {
  rig = await RecordingRig.open();
});

afterEach(() => rig[Symbol.asyncDispose]());

const both = (...msns: number[]) => ["audio", "source"].flatMap((name) => msns.map((msn) => `${name}/${msn}`)).sort();
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1);
const told = () => rig.facts.of("segment-closed");

test("an object store that rejects puts for a minute loses nothing: every segment is stored and reported once", async () => {
  await rig.record(10);
  rig.store.isAway = true;
  await rig.record(30);
  expect(rig.store.refused).toBeGreaterThan(1);
  rig.store.isAway = false;
  await rig.record(5);
  await rig.finish();
  await rig.sealed();
  expect(await rig.whole()).toEqual(both(...upTo(45)));
  expect(told()).toHaveLength(45);
  expect(rig.facts.of("recording-failed")).toEqual([]);
  expect(await rig.left()).toEqual([]);
});

test("an object store that is unavailable across a kill -9 loses nothing either", async () => {
  rig.store.isAway = true;
  await rig.record(40);
  await rig.restart();
  await rig.record(4);
  expect(await rig.whole()).toEqual([]);
  rig.store.isAway = false;
  await rig.finish();
  await rig.sealed();
  expect(await rig.whole()).toEqual(both(...upTo(40), 57, 58, 59, 60));
  expect(rig.facts.of("recording-failed")).toEqual([]);
  expect(await rig.left()).toEqual([]);
});

test("after a kill -9 between the put and the end of a chapter, the same object is put again", async () => {
  await rig.record(3);
  await rig.finish();
  rig.facts.isAway = true;
  await rig.pass(1_000);
  await rig.restart();
  rig.facts.isAway = false;
  await rig.restart();
  await rig.sealed();
  expect(await rig.whole()).toEqual(both(1, 2, 3));
  expect(await rig.left()).toEqual([]);
});

test("a chapter that was stored, and that the disk has again after a power cut, but less of it: the objects stay whole", async () => {
  await rig.record(3);
  await rig.recorder.flushed();
  const [chapter = ""] = await rig.left();
  const folder = join(rig.spool, chapter);
  const before = join(rig.spool, "../before");
  await cp(folder, before, { recursive: true });
  await rig.finish();
  await rig.sealed();
  const spans = rig.facts.of("span-sealed").map(({ span, rendition, bytes }) => ({ span, rendition, bytes }));
  for (const { span, rendition, bytes } of spans) await truncate(join(before, rendition, span), bytes / 2);
  const journal = join(before, "journal.jsonl");
  const { size } = await stat(journal);
  await truncate(journal, size / 2);
  await rename(before, folder);
  const objects = await rig.objects();
  await rig.restart();
  await rig.sealed();
  expect(await rig.left()).toEqual([]);
  expect(await rig.objects()).toEqual(objects);
  expect(await rig.whole()).toEqual(both(1, 2, 3));
  expect(rig.facts.of("span-sealed").slice(spans.length)).toMatchObject(spans);
});

test("a chapter that was stored, whose facts the database did not get, and of which the disk has less after a power cut: nothing is missing", async () => {
  await rig.record(3);
  await rig.recorder.flushed();
  rig.facts.isAway = true;
  await rig.finish();
  await until(async () => {
    await rig.pass(1_000);
    return (await rig.objects()).size === 5;
  }, "the chapter in the store");
  const [chapter = ""] = await rig.left();
  const objects = await rig.objects();
  // The database forgets what it had not accepted.
  rig.facts.facts.length = 0;
  for (const rendition of ["source", "audio"]) {
    const span = join(rig.spool, chapter, rendition, "1-0000000001.m4s");
    await rename(span, `${span}.x`);
    await cp(`${span}.x`, span);
    await rm(`${span}.x`);
    await truncate(span, (await stat(span)).size / 2);
  }
  await rig.restart();
  rig.facts.isAway = false;
  await rig.sealed();
  expect(await rig.objects()).toEqual(objects);
  expect(rig.facts.of("recording-failed")).toEqual([]);
  expect(await rig.whole()).toEqual(both(1, 2, 3));
});

test("failing puts are retried with growing delays, and the first success flushes the queue", async () => {
  rig.store.isAway = true;
  await rig.record(4);
  await rig.finish();
  await rig.pass(600_000);
  expect(rig.store.refused).toBeLessThan(60);
  // Reading a chapter takes real time, which the manual clock does not advance.
  await until(async () => {
    await rig.pass(30_000);
    return rig.store.refused > 5;
  }, "more attempts");
  rig.store.isAway = false;
  await rig.sealed();
  expect(await rig.whole()).toEqual(both(1, 2, 3, 4));
});

test("while the object store is unavailable, waiting recordings are reported every minute, also after a kill -9", async () => {
  rig.store.isAway = true;
  await rig.record(4);
  await rig.finish();
  const waiting = () => rig.facts.of("recording-spooled").map(({ sessionId }) => sessionId);
  const before = waiting().length;
  await rig.pass(3_600_000);
  expect(waiting().length - before).toBe(60);
  await rig.restart();
  await rig.recovered();
  const atRestart = waiting().length;
  // Reading the spool takes real time, which the manual clock does not advance.
  await until(async () => {
    await rig.pass(60_000);
    return waiting().length > atRestart;
  }, "word of it after the restart");
  rig.store.isAway = false;
  await rig.sealed();
  expect(await rig.whole()).toEqual(both(1, 2, 3, 4));
  expect(new Set(waiting())).toEqual(new Set(["session-1"]));
});

test("a chapter stays in the spool until the database knows it, and is reported again when facts were lost", async () => {
  rig.facts.isAway = true;
  await rig.record(3);
  await rig.finish();
  await rig.pass(120_000);
  expect(await rig.left()).toHaveLength(1);
  expect(told()).toHaveLength(3);
  // Overflows the fact queue.
  rig.facts.lost += rig.facts.facts.length;
  rig.facts.facts.length = 0;
  rig.facts.isAway = false;
  await rig.sealed();
  expect(await rig.whole()).toEqual(both(1, 2, 3));
  expect(await rig.left()).toEqual([]);
});

test.each(["store", "facts"] as const)("a shutdown does not wait for an unavailable %s", async (part) => {
  rig[part].isAway = true;
  await rig.record(3);
  await rig.finish();
  await rig.sealer.settled();
  expect(await rig.left()).toHaveLength(1);
});

test("init segments and the journal are stored next to the spans", async () => {
  await rig.record(2);
  await rig.finish();
  await rig.sealed();
  const folder = join(rig.spool, "../objects/v1/project-1/rec/session-1");
  expect((await readdir(folder, { recursive: true })).sort()).toEqual([
    "audio",
    "audio/1-0000000001.m4s",
    `audio/${initOfTrack(AUDIO).name}`,
    "index-1-0000000001.jsonl",
    "source",
    "source/1-0000000001.m4s",
    `source/${initOfTrack(VIDEO).name}`,
  ]);
});
