import { beforeEach, expect, test } from "vitest";
import { ManualClock } from "../../platform/clock.ts";
import { silentLog } from "../../platform/log.ts";
import { openMediaMemory } from "../memory-pool.ts";
import { Payload, type Track } from "../packet.ts";
import {
  type Arrival,
  AUDIO,
  SECOND_AUDIO,
  type SourceShape,
  syntheticSource,
  VIDEO,
  withSecondAudio,
} from "../testing/synthetic-source.ts";
import { play } from "../testing/timeline-rig.ts";
import { TargetDuration } from "../timeline/target-duration.ts";
import { Timeline } from "../timeline/timeline.ts";
import type { Cut, Sample } from "../timeline/timeline-sink.ts";
import type { FeedItem, FeedReader, FeedReaderSettings } from "./feed-reader.ts";
import { SessionFeed } from "./session-feed.ts";

let clock: ManualClock;
let feed: SessionFeed;
let timeline: Timeline;
let memory: ReturnType<typeof openMediaMemory>["packets"];
/** Payloads that have no reader any more, by their first byte. */
let released: number[];

beforeEach(() => {
  clock = new ManualClock(Date.UTC(2030, 0, 1));
  feed = new SessionFeed();
  memory = openMediaMemory().packets;
  released = [];
  const sink = {
    stretch: (tracks: readonly Track[]) => feed.stretch(tracks),
    cut: (cut: Cut) => feed.cut(cut),
    pause: (ticks: number) => feed.pause(ticks),
    sample: (sample: Sample) => {
      feed.sample(sample);
      sample.data.release();
    },
  };
  timeline = new Timeline({
    clock,
    sink,
    resume: null,
    target: new TargetDuration({ fixed: null, lastSession: null }),
    onUnstable: () => {},
  });
});

/** Packets in pooled memory, each filled with the number of its second. */
function send(shape: SourceShape, change: (arrivals: Arrival[]) => Arrival[] = (same) => same): void {
  if (shape.video !== false) timeline.track(VIDEO);
  if (shape.audio !== false) timeline.track(AUDIO);
  const pooled = ({ at, packet }: Arrival) => {
    const bytes = memory.allocate(packet.data.bytes.byteLength);
    bytes.fill(Math.floor(at / 1000));
    const release = (gone: Uint8Array) => {
      released.push(gone[0] ?? -1);
      memory.release(gone);
    };
    timeline.packet({ ...packet, data: new Payload(bytes, { release }) });
  };
  play(clock, change(syntheticSource(shape)), pooled, () => timeline.tick());
}

class ReadingLog {
  readonly lines: unknown[] = [];
  readonly log = { ...silentLog, warn: (fields: unknown) => this.lines.push(fields) } as typeof silentLog;
}

function open(from: "keyframe" | "now", settings: Partial<FeedReaderSettings> = {}): FeedReader {
  return feed.openReader({ log: silentLog, name: "test", onReadable: () => {}, ...settings }, { from });
}

/** A reader that keeps up, and what it has read. */
function follow(): { fast: FeedReader; items: FeedItem[] } {
  const items: FeedItem[] = [];
  const fast: FeedReader = open("now", { onReadable: () => items.push(...drain(fast)) });
  items.push(...drain(fast));
  return { fast, items };
}

/** Read all there is, as a reader that keeps up does. */
function drain(from: FeedReader): FeedItem[] {
  const items: FeedItem[] = [];
  for (let item = from.read(); item; item = from.read()) {
    if (item.type === "sample") item.sample.data.release();
    items.push(item);
  }
  return items;
}

const samplesOf = (items: readonly FeedItem[]) =>
  items.flatMap((item) => (item.type === "sample" ? [item.sample] : []));
const seconds = ({ kind, time }: Sample) => time / (kind === "video" ? 90_000 : 48_000);
/** The items in short: the first letter, and of samples only the first in a row. */
const story = (items: readonly FeedItem[]) =>
  items.map(({ type }) => type).filter((type, i, all) => type !== all[i - 1]);

test("a reader gets the stretch, the cuts and the samples of both tracks, in the order of the timeline", () => {
  const { fast, items } = follow();
  send({ seconds: 5 });
  timeline.pause();
  feed.end();
  expect(story(items)).toEqual(["stretch", "cut", "sample", "cut", "sample", "cut", "sample", "pause", "end"]);
  expect(samplesOf(items).filter(({ kind }) => kind === "video")).toHaveLength(150);
  expect(fast.dropped).toBe(0);
});

test("a reader that joins in the middle begins at the last IDR, with the stretch and the cut it belongs to", () => {
  open("now");
  send({ seconds: 5 });
  const late = open("keyframe");
  const items = drain(late);
  expect(story(items)).toEqual(["stretch", "cut", "sample"]);
  const [first, ...others] = samplesOf(items);
  expect(first).toMatchObject({ kind: "video", isIndependent: true, time: 4 * 90_000 });
  expect(others.some(({ kind }) => kind === "audio")).toBe(true);
  for (const sample of others) expect(seconds(sample)).toBeGreaterThan(3.9);
  for (const { data } of samplesOf(items)) expect(data.bytes.every((value) => value === 4 || value === 3)).toBe(true);
});

test("a reader gets a second audio track as it gets the first, from the last IDR on", () => {
  timeline.track(SECOND_AUDIO);
  open("now");
  send({ seconds: 5 }, withSecondAudio);
  const late = open("keyframe");
  const samples = samplesOf(drain(late));
  const timesOf = (track: Track) => samples.filter(({ trackId }) => trackId === track.id).map(({ time }) => time);
  expect(samples[0]).toMatchObject({ trackId: VIDEO.id, isIndependent: true });
  expect(timesOf(AUDIO).length).toBeGreaterThan(30);
  expect(timesOf(SECOND_AUDIO)).toEqual(timesOf(AUDIO));
});

test("without another reader nothing is kept, and the first one waits for the next IDR", () => {
  send({ seconds: 3 });
  const sent = released.length;
  expect(sent).toBeGreaterThan(200);
  const first = open("keyframe");
  expect(story(drain(first))).toEqual(["stretch", "cut"]);
  send({ seconds: 2, clockAt: 3 }, (arrivals) => arrivals.filter(({ packet }) => packet.pts >= 3 * 90_000));
  const [begin] = samplesOf(drain(first));
  expect(begin).toMatchObject({ kind: "video", isIndependent: true });
});

test("of a source with sound only a reader begins anywhere", () => {
  send({ seconds: 3, video: false });
  const late = open("keyframe");
  send({ seconds: 1, video: false, clockAt: 3 });
  expect(samplesOf(drain(late)).length).toBeGreaterThan(40);
});

test("a stalled reader drops only its own packets, and one line of the log gives their number", () => {
  const { log, lines } = new ReadingLog();
  feed = new SessionFeed({ maxItems: 100 });
  const { fast, items } = follow();
  const stalled = open("now", { log, name: "stalled" });
  send({ seconds: 9 });
  expect(fast.dropped).toBe(0);
  expect(samplesOf(items).filter(({ kind }) => kind === "video")).toHaveLength(269);
  expect(stalled.dropped).toBeGreaterThan(500);
  expect(lines).toEqual([]);

  // It reads again: what it gets begins at an IDR, with the stretch and the cut that it is in, and the bytes are still those that were sent.
  const read = drain(stalled);
  expect(story(read)).toEqual(["stretch", "cut", "sample"]);
  const [first, ...others] = samplesOf(read);
  expect(first).toMatchObject({ kind: "video", isIndependent: true, time: 8 * 90_000 });
  for (const { data } of others) expect(data.bytes[0]).toBeGreaterThanOrEqual(7);

  feed.end();
  stalled.close();
  expect(lines).toEqual([{ reader: "stalled", dropped: stalled.dropped }]);
});

test("what a slow reader has not read keeps its bytes while the source goes on", () => {
  const slow = open("now");
  send({ seconds: 7, frameBytes: 1000 });
  const items: FeedItem[] = [];
  for (let item = slow.read(); item; item = slow.read()) items.push(item);
  const pictures = samplesOf(items).filter(({ kind }) => kind === "video");
  expect(pictures.length).toBeGreaterThan(200);
  for (const picture of pictures)
    expect(new Set(picture.data.bytes)).toEqual(new Set([Math.floor(Math.round(seconds(picture) * 1000) / 1000)]));
});

test("a reader that never reads holds no more than its queue, and nothing once it is closed", () => {
  feed = new SessionFeed({ maxBytes: 2000 });
  const stalled = open("now");
  let packets = 0;
  send({ seconds: 20 }, (arrivals) => {
    packets = arrivals.length;
    return arrivals;
  });
  const held = packets - released.length;
  expect(held).toBeGreaterThan(0);
  expect(held).toBeLessThan(200); // a group of pictures among them
  timeline.pause();
  stalled.close();
  expect(released).toHaveLength(packets);
  expect(stalled.read()).toBeNull();
});

test("a reader is told of a reconnect as the renditions are: a pause, then a stretch, without a discontinuity where the tracks are the same", () => {
  const { items } = follow();
  send({ seconds: 3 });
  timeline.publisher();
  send({ seconds: 3, clockAt: 500 });
  expect(story(items)).toEqual([
    ...["stretch", "cut", "sample", "cut", "sample", "pause"],
    ...["stretch", "cut", "sample", "cut", "sample"],
  ]);
  const cuts = items.flatMap((item) => (item.type === "cut" ? [item.cut] : []));
  expect(cuts.map(({ discontinuity }) => discontinuity)).toEqual([false, false, false, false]);
});

test("ten readers that are behind hold as much as one, and each goes on by itself", () => {
  feed = new SessionFeed({ maxItems: 200 });
  const readers = Array.from({ length: 10 }, () => open("now"));
  let packets = 0;
  send({ seconds: 9 }, (arrivals) => {
    packets = arrivals.length;
    return arrivals;
  });
  expect(packets - released.length).toBeLessThanOrEqual(200 + 5);
  const dropped = readers.map((reader) => reader.dropped);
  expect(new Set(dropped).size).toBe(1);
  const [first, second] = readers;
  if (!first || !second) throw new Error("no readers");
  const [begin] = samplesOf(drain(first));
  expect(begin).toMatchObject({ isIndependent: true, time: 8 * 90_000 });
  expect(second.dropped).toBe(dropped[0]);
  expect(samplesOf(drain(second))[0]).toMatchObject({ isIndependent: true, time: 8 * 90_000 });
  expect(first.dropped).toBe(dropped[0]);
});

test("a reader is told once that there is something to read, and not for what is of no use to it", () => {
  let told = 0;
  feed = new SessionFeed({ maxItems: 20 });
  const slow = open("now", { onReadable: () => told++ });
  drain(slow);
  send({ seconds: 2.9 });
  expect(told).toBe(1);
  expect(drain(slow)).toEqual([]);
  send({ seconds: 1, clockAt: 2.9 }, (arrivals) => arrivals.filter(({ packet }) => packet.pts < 3.9 * 90_000));
  expect(told).toBe(2);
});

test("a reader that is behind when the session ends is told of the end", () => {
  feed = new SessionFeed({ maxItems: 20 });
  let told = 0;
  const slow = open("now", { onReadable: () => told++ });
  send({ seconds: 2.9 });
  expect(drain(slow)).toEqual([]);
  feed.end();
  expect(told).toBe(1);
  expect(drain(slow).at(-1)).toEqual({ type: "end" });
  expect(slow.dropped).toBeGreaterThan(150);
});

test("a reader waits for the next IDR where the group of pictures is more than it may keep", () => {
  feed = new SessionFeed({ maxItems: 20 });
  open("now");
  send({ seconds: 2.9 });
  const late = open("keyframe");
  expect(story(drain(late))).toEqual(["stretch", "cut"]);
  expect(late.dropped).toBe(0);
});
