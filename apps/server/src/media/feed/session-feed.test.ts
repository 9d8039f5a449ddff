import { beforeEach, expect, test } from "vitest";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
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
import type { Cut, Sample, TimelineSink } from "../timeline/timeline-sink.ts";
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
  timeline = new Timeline({
    clock,
    sink: feed,
    resume: null,
    slate: null,
    lastSound: null,
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

/** Writes down what it is told, and retains the samples' bytes where it is `slow`. */
class Reader implements TimelineSink {
  readonly story: string[] = [];
  readonly cuts: Cut[] = [];
  readonly samples: Sample[] = [];
  readonly #isSlow: boolean;

  constructor({ isSlow = false } = {}) {
    this.#isSlow = isSlow;
  }

  stretch(): void {
    this.#told("stretch");
  }

  cut(cut: Cut): void {
    this.#told("cut");
    this.cuts.push(cut);
  }

  sample(sample: Sample): void {
    this.#told("sample");
    this.samples.push(sample);
    if (this.#isSlow) sample.data.retain();
  }

  pause(): void {
    this.#told("pause");
  }

  end(): void {
    this.#told("end");
  }

  /** Of samples in a row the first. */
  #told(what: string): void {
    if (this.story.at(-1) !== what) this.story.push(what);
  }
}

function attach(from: "keyframe" | "now", reader = new Reader()): Reader {
  feed.attach(reader, { from });
  return reader;
}

const seconds = ({ kind, time }: Sample) => time / (kind === "video" ? 90_000 : 48_000);

test("a reader gets the stretch, the cuts and the samples of both tracks, in the order of the timeline", () => {
  const { story, samples } = attach("now");
  send({ seconds: 5 });
  timeline.pause();
  feed.end();
  expect(story).toEqual(["stretch", "cut", "sample", "cut", "sample", "cut", "sample", "pause", "end"]);
  expect(samples.filter(({ kind }) => kind === "video")).toHaveLength(150);
});

test("a reader that joins in the middle begins with the next IDR, with the stretch and the cut it belongs to", () => {
  send({ seconds: 3 });
  const { story, samples } = attach("keyframe");
  expect(story).toEqual(["stretch", "cut"]);
  send({ seconds: 2, clockAt: 3 }, (arrivals) => arrivals.filter(({ packet }) => packet.pts >= 3 * 90_000));
  const [first, ...others] = samples;
  expect(first).toMatchObject({ kind: "video", isIndependent: true });
  expect(others.some(({ kind }) => kind === "audio")).toBe(true);
});

test("a reader gets a second audio track as it gets the first", () => {
  timeline.track(SECOND_AUDIO);
  const { samples } = attach("keyframe");
  send({ seconds: 5 }, withSecondAudio);
  const timesOf = (track: Track) => samples.filter(({ trackId }) => trackId === track.id).map(({ time }) => time);
  expect(samples[0]).toMatchObject({ trackId: VIDEO.id, isIndependent: true });
  expect(timesOf(AUDIO).length).toBeGreaterThan(200);
  expect(timesOf(SECOND_AUDIO)).toEqual(timesOf(AUDIO));
});

test("of a source with sound only a reader begins anywhere", () => {
  send({ seconds: 3, video: false });
  const { samples } = attach("keyframe");
  send({ seconds: 1, video: false, clockAt: 3 });
  expect(samples.length).toBeGreaterThan(40);
});

test("what a slow reader retains keeps its bytes while the source goes on, and nothing else is kept", () => {
  const { samples } = attach("now", new Reader({ isSlow: true }));
  attach("now");
  send({ seconds: 7, frameBytes: 1000 });
  expect(released).toEqual([]);
  const pictures = samples.filter(({ kind }) => kind === "video");
  expect(pictures.length).toBeGreaterThan(200);
  for (const picture of pictures)
    expect(new Set(picture.data.bytes)).toEqual(new Set([Math.floor(Math.round(seconds(picture) * 1000) / 1000)]));
  for (const { data } of samples) data.release();
  expect(released).toHaveLength(samples.length);
});

test("a reader is told of a reconnect as the renditions are: a pause, then a stretch, without a discontinuity where the tracks are the same", () => {
  const { story, cuts } = attach("now");
  send({ seconds: 3 });
  timeline.publisher();
  send({ seconds: 3, clockAt: 500 });
  expect(story).toEqual([
    ...["stretch", "cut", "sample", "cut", "sample", "pause"],
    ...["stretch", "cut", "sample", "cut", "sample"],
  ]);
  expect(cuts.map(({ discontinuity }) => discontinuity)).toEqual([false, false, false, false]);
});

test("a reader that left is told nothing more", () => {
  const reader = new Reader();
  const leave = feed.attach(reader, { from: "now" });
  send({ seconds: 1 });
  const { length } = reader.samples;
  leave();
  send({ seconds: 1, clockAt: 1 });
  expect(length).toBeGreaterThan(70);
  expect(reader.samples).toHaveLength(length);
});
