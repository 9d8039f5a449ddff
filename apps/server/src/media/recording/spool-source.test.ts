import { existsSync } from "node:fs";
import { cp, readdir, rename, rm, symlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ObjectNotFound } from "../../platform/storage/object-store.ts";
import { recordingPrefix, type StoredSegment } from "../../ports/index.ts";
import { initOfTrack } from "../packaging/init-of-track.ts";
import { type SegmentSource, SessionMedia, type SessionSegment } from "../stored/session-media.ts";
import { StoredMedia } from "../stored/stored-media.ts";
import { WindowSource } from "../stored/window-source.ts";
import { RecordingRig } from "../testing/recording-rig.ts";
import { AUDIO } from "../testing/synthetic-source.ts";
import { SpoolSource } from "./spool-source.ts";

let rig: RecordingRig;
let media: SessionMedia;
/** The ranges that the object store's index was asked for. */
let asked: [number, number][];

beforeEach(async () => {
  rig = await RecordingRig.open();
  asked = [];
  media = new SessionMedia([windowOf(), new SpoolSource(rig.spool, "session-1"), storeOf()]);
});
afterEach(() => rig[Symbol.asyncDispose]());

function windowOf(): WindowSource {
  return new WindowSource((name) => {
    const completed = rig.live.filter(({ rendition }) => rendition === name).map(({ segment }) => segment);
    return { completed, segment: (msn) => completed.find((segment) => segment.msn === msn) };
  });
}

/** The rows that the database knows to be in the object store. */
function storeOf(): SegmentSource {
  const stored = (): StoredMedia => {
    const sealed = new Set(rig.facts.of("span-sealed").map(({ rendition, span }) => `${rendition}/${span}`));
    const rows = rig.rows().filter(({ rendition, span }) => sealed.has(`${rendition}/${span}`));
    const renditions = ["source", "audio"].flatMap((rendition) => {
      const segments = rows.filter((row) => row.rendition === rendition);
      const [first] = segments;
      return first ? [{ rendition, track: first.track, segments, spanBytes: new Map() }] : [];
    });
    const keyPrefix = recordingPrefix("project-1", "session-1");
    return new StoredMedia({ id: "session-1", projectId: "project-1", keyPrefix, renditions }, rig.store);
  };
  return {
    place: "store",
    segments(rendition, range) {
      asked.push([range.first, range.last]);
      return stored().segments(rendition, range);
    },
    read: (rendition, segment, range) => stored().read(rendition, segment, range),
    readInit: (rendition, init) => stored().readInit(rendition, init),
  };
}

/** Segments 1 to 3 in the object store, 4 to 6 in the spool, and of these 5 and 6 in memory. */
async function recorded(): Promise<readonly SessionSegment[]> {
  await rig.record(3);
  await rig.finish();
  await rig.sealed();
  await rig.record(3);
  rig.live.splice(0, 8);
  return listed();
}

async function listed(first = 1, last = 6): Promise<readonly SessionSegment[]> {
  return (await media.segments("source", { first, last }))?.segments ?? [];
}

const bytesOf = (segment: SessionSegment, range?: { start: number; end: number }) =>
  buffer(media.read("source", segment, range));

test("a range of a session is listed over memory, spool and object store, with the times of one timeline", async () => {
  const segments = await recorded();
  expect(segments.map(({ msn, place }) => `${msn} ${place}`)).toEqual([
    ...["1 store", "2 store", "3 store"],
    ...["4 spool", "5 window", "6 window"],
  ]);
  expect(segments.map(({ startTicks, durationTicks }) => [startTicks, durationTicks])).toEqual(
    segments.map((_, n) => [n * 180_000, 180_000]),
  );
  expect(segments.every(({ gap, isIndependent }) => !gap && isIndependent)).toBe(true);
  const times = segments.map(({ programDateTimeMs }) => programDateTimeMs);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

test("the object store's index is asked only for what neither memory nor the spool has", async () => {
  await recorded();
  asked = [];
  await listed(5, 6);
  await listed(4, 6);
  expect(asked).toEqual([]);
  await listed(2, 6);
  expect(asked).toEqual([[2, 3]]);
});

test("a segment has the same bytes and the same init segment wherever it is, as a whole and in ranges", async () => {
  const segments = await recorded();
  const inMemory = segments[4];
  if (!inMemory) throw new Error("segment 5 is missing");
  const whole = await bytesOf(inMemory);
  expect(whole.byteLength).toBe(inMemory.length);
  const part = await bytesOf(inMemory, { start: 3, end: 9 });
  const initOf = async (name: string) => Buffer.from((await media.readInit("source", name)) ?? []);
  const init = await initOf(inMemory.init);
  expect(init.byteLength).toBeGreaterThan(0);
  for (const place of ["spool", "store"]) {
    if (place === "spool") rig.live.length = 0;
    else {
      await rig.finish();
      await rig.sealed();
      expect(await rig.left()).toEqual([]);
    }
    const [found] = await listed(5, 5);
    expect(found).toMatchObject({ place, length: whole.byteLength, init: inMemory.init });
    if (!found) continue;
    expect(await bytesOf(found)).toEqual(whole);
    expect(await bytesOf(found, { start: 3, end: 9 })).toEqual(part);
    expect(await initOf(found.init)).toEqual(init);
  }
});

test("a segment that moves on between listing and reading is read where it is then", async () => {
  const segments = await recorded();
  const [, , , inSpool, inMemory] = segments;
  if (!inSpool || !inMemory) throw new Error("segments are missing");
  const [spooled, live] = [await bytesOf(inSpool), await bytesOf(inMemory)];
  rig.live.length = 0;
  expect(await bytesOf(inMemory)).toEqual(live);
  await rig.finish();
  await rig.sealed();
  expect(await bytesOf(inSpool)).toEqual(spooled);
  expect(await bytesOf(inMemory)).toEqual(live);
});

test("sound whose rate changed is listed in the ticks of the recording's track", async () => {
  await rig.record(2);
  rig.inits.audio = initOfTrack({ ...AUDIO, sampleRate: 44_100 });
  await rig.record(2);
  rig.live.splice(0, 4);
  const { track, segments = [] } = (await media.segments("audio", { first: 1, last: 4 })) ?? {};
  expect(segments.map(({ place }) => place)).toEqual(["spool", "spool", "window", "window"]);
  expect(track?.timescale).toBe(48_000);
  expect(segments.map(({ startTicks, durationTicks }) => [startTicks, durationTicks])).toEqual(
    segments.map((_, n) => [n * 96_000, 96_000]),
  );
});

/** This many segments are in the spool alone, after a kill while the object store takes nothing. */
async function leftByKill(segments: number): Promise<void> {
  await rig.record(segments);
  rig.store.isAway = true;
  rig.live.length = 0;
  await rig.restart();
  await rig.recovered();
}

test("what a kill left in the spool is listed and read", async () => {
  await leftByKill(3);
  const segments = await listed(1, 3);
  expect(segments.map(({ msn, place }) => `${msn} ${place}`)).toEqual(["1 spool", "2 spool", "3 spool"]);
  for (const segment of segments) expect((await bytesOf(segment)).byteLength).toBe(segment.length);
  rig.store.isAway = false;
});

test("what has left the spool is not looked for again, and what comes is found at once", async () => {
  const [first, , , fourth] = await recorded();
  if (!first || !fourth) throw new Error("segments are missing");
  const spool = new SpoolSource(rig.spool, "session-1");
  const read = (segment: SessionSegment) => buffer(spool.read("source", segment));
  await expect(read(first)).rejects.toThrow(ObjectNotFound);
  const [chapter = ""] = await readdir(rig.spool);
  const placedAt = (msn: number) => chapter.replace(/-\d{10}/, `-${String(msn).padStart(10, "0")}`);
  for (const msn of [1, 9]) await cp(join(rig.spool, chapter), join(rig.spool, placedAt(msn)), { recursive: true });
  await rename(join(rig.spool, placedAt(1), "source", fourth.span), join(rig.spool, placedAt(1), "source", first.span));
  await expect(read(first)).rejects.toThrow(ObjectNotFound);
  const ninth = fourth.span.replace(/-\d{10}/, `-${String(9).padStart(10, "0")}`);
  await rename(join(rig.spool, placedAt(9), "source", fourth.span), join(rig.spool, placedAt(9), "source", ninth));
  expect(await read({ ...fourth, span: ninth })).toEqual(await read(fourth));
  for (const msn of [1, 9]) await rm(join(rig.spool, placedAt(msn)), { recursive: true });
});

test("a link in the spool is not followed, to segments and to init segments", async () => {
  await leftByKill(3);
  const [segment] = await listed(1, 1);
  const span = join("source", segment?.span ?? "");
  const init = join("source", segment?.init ?? "");
  const [chapter = ""] = (await readdir(rig.spool)).filter((name) => existsSync(join(rig.spool, name, span)));
  for (const name of [span, init]) {
    const path = join(rig.spool, chapter, name);
    const outside = join(dirname(rig.spool), basename(name));
    await rename(path, outside);
    await symlink(outside, path);
  }
  const spool = new SpoolSource(rig.spool, "session-1");
  await expect(buffer(spool.read("source", segment as SessionSegment))).rejects.toThrow(ObjectNotFound);
  expect(await spool.readInit("source", segment?.init ?? "")).toBeNull();
  rig.store.isAway = false;
});

test("nothing is known of another session or rendition, and bytes that are gone are an error with the segment's number", async () => {
  const [first] = await recorded();
  expect(await new SpoolSource(rig.spool, "session-2").segments("source", { first: 1, last: 6 })).toBeNull();
  expect(await media.segments("v9", { first: 1, last: 6 })).toBeNull();
  expect(await media.readInit("source", "init-none.mp4")).toBeNull();
  await rig.store.deletePrefix(recordingPrefix("project-1", "session-1"));
  const gone = bytesOf(first as StoredSegment & SessionSegment);
  await expect(gone).rejects.toThrow(ObjectNotFound);
  await expect(gone).rejects.toThrow("source/1");
});
