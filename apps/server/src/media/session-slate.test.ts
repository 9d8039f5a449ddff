import { describe, expect, test } from "vitest";
import { ManualClock } from "../platform/manual-clock-rig.ts";
import { openMediaMemory } from "./memory-pool.ts";
import type { RenditionSegment } from "./packaging/segment-ledger.ts";
import { type MakeSlate, SlateImages } from "./packaging/slate-images.ts";
import { samplesIn } from "./packaging/window-samples.ts";
import { Payload, VIDEO_TRACK, type VideoTrack } from "./packet.ts";
import type { SessionOutputs } from "./session-outputs.ts";
import { openTimeline } from "./session-timeline.ts";
import { AUDIO, type SourceShape, syntheticSource, VIDEO } from "./testing/synthetic-source.ts";
import { play } from "./testing/timeline-rig.ts";
import type { Timeline } from "./timeline/timeline.ts";

class SlateRig {
  readonly clock = new ManualClock(Date.UTC(2030, 0, 1));
  readonly closed: RenditionSegment[] = [];
  readonly timeline: Timeline;
  readonly outputs: SessionOutputs;
  /** What readers of the feed get. */
  readonly fed: string[] = [];

  constructor({ hasSlate = true, makeSlate = null as MakeSlate | null } = {}) {
    const { timeline, outputs } = openTimeline({
      clock: this.clock,
      memory: openMediaMemory().parts,
      resume: null,
      lastTargetDuration: null,
      lastSound: null,
      hasSlate,
      slateImages: makeSlate && new SlateImages(makeSlate),
      onSegment: (segments) => this.closed.push(...segments),
      onUnstable: () => {},
      ladder: null,
    });
    this.timeline = timeline;
    this.outputs = outputs;
    outputs.feed.attach(
      {
        stretch: () => this.fed.push("stretch"),
        cut: ({ msn }) => this.fed.push(`cut ${msn}`),
        sample() {},
        pause: () => this.fed.push("pause"),
        end: () => this.fed.push("end"),
      },
      { from: "now" },
    );
  }

  send(shape: SourceShape, video: VideoTrack = VIDEO, keyframe: Uint8Array | null = null): void {
    const { timeline } = this;
    if (shape.video !== false) timeline.track(video);
    if (shape.audio !== false) timeline.track(AUDIO);
    play(
      this.clock,
      syntheticSource(shape),
      ({ packet }) => {
        const isReplaced = keyframe && packet.kind === "video" && packet.isIndependent;
        timeline.packet(isReplaced ? { ...packet, data: new Payload(keyframe) } : packet);
      },
      () => timeline.tick(),
    );
  }

  wait(ms: number): void {
    for (let passed = 0; passed < ms; passed += 50) {
      this.clock.advance(50);
      this.timeline.tick();
    }
  }

  of(name: string) {
    return this.closed.filter(({ rendition }) => rendition.name === name).map(({ segment }) => segment);
  }

  slates(name: string): number[] {
    return this.of(name).flatMap(({ msn, isSlate }) => (isSlate ? msn : []));
  }

  /** Seconds between the end of a segment and the start of the next. */
  holes(name: string): number[] {
    const segments = this.of(name);
    return segments.slice(1).map((segment, index) => {
      const before = segments[index] as (typeof segments)[number];
      return (segment.startTicks - before.startTicks - before.durationTicks) / segment.timescale;
    });
  }
}

describe("a source that is away for 20 s, with a slate", () => {
  const rig = new SlateRig();
  rig.send({ seconds: 5, bFrames: 2 });
  rig.timeline.pause();
  rig.wait(20_000);
  const playlist = rig.outputs.playlist("source")?.text() ?? "";
  rig.timeline.publisher();
  rig.send({ seconds: 5, clockAt: 100, bFrames: 2 });

  test("leaves no hole in any rendition, and no discontinuity: VLC ends there", () => {
    for (const name of ["source", "audio"]) {
      const segments = rig.of(name);
      expect(segments.map(({ msn }) => msn)).toEqual(segments.map((_, index) => index + 1));
      expect(segments.some(({ discontinuity }) => discontinuity)).toBe(false);
      expect(new Set(segments.map(({ init }) => init?.name)).size).toBe(1);
      // Up to a frame of sound, and the delay of B-frames, as at any reconnect.
      for (const hole of rig.holes(name)) expect(Math.abs(hole)).toBeLessThan(0.06);
    }
  });

  test("is shown for as long, in segments and parts that are as long as others", () => {
    expect(rig.slates("source")).toEqual(rig.slates("audio"));
    const slates = rig.of("source").filter(({ isSlate }) => isSlate);
    const seconds = slates.reduce((sum, slate) => sum + slate.seconds, 0);
    expect(seconds).toBeGreaterThan(19);
    expect(seconds).toBeLessThan(21);
    for (const { parts, timescale } of slates.slice(0, -1)) {
      expect(parts[0]?.isIndependent).toBe(true);
      for (const { durationTicks } of parts.slice(0, -1)) {
        expect(durationTicks / timescale).toBeLessThanOrEqual(0.334);
        expect(durationTicks / timescale).toBeGreaterThanOrEqual(0.85 * 0.334);
      }
    }
  });

  test("has a playlist whose end keeps the pace of the clock", () => {
    const times = rig.of("source").map(({ programDateTimeMs, seconds }) => [programDateTimeMs, seconds] as const);
    for (const [index, [ms, seconds]] of times.slice(0, -1).entries())
      expect(Math.abs((times[index + 1]?.[0] ?? 0) - ms - seconds * 1000)).toBeLessThan(500);
    expect(playlist).toContain("PRELOAD-HINT");
  });

  test("is not there for the readers of the feed", () => {
    const numbers = rig.slates("source");
    expect(numbers.length).toBeGreaterThan(9);
    expect(rig.fed.filter((each) => each !== "cut 1" && each !== "cut 2" && each !== "cut 3")).toEqual([
      ...["stretch", "pause", "stretch"],
      ...[1, 2, 3].map((nth) => `cut ${(numbers.at(-1) ?? 0) + nth}`),
    ]);
  });
});

test("a slate has a keyframe in each segment, and behind it pictures that cost next to nothing", () => {
  // An IDR slice of a type 7 with set 0, and what follows.
  const keyframe = new Uint8Array(50_000).fill(0x55);
  keyframe.set([0, 0, 0xc3, 0x4c, 0x65, 0x88, 0x84]);
  const rig = new SlateRig();
  rig.send({ seconds: 5 }, VIDEO, keyframe);
  rig.timeline.pause();
  rig.wait(10_000);
  rig.timeline.end();
  const slates = rig.of("source").filter(({ isSlate }) => isSlate);
  expect(slates.map(({ seconds }) => seconds)).toEqual([2, 2, 2, 2, expect.any(Number)]);
  for (const { parts, frames, bytes } of slates.slice(0, -1)) {
    expect(frames).toBe(20);
    expect(bytes).toBeLessThan(53_000);
    expect(parts.map(({ isIndependent }) => isIndependent)).toEqual([true, ...Array(6).fill(false)]);
  }
});

/** The first picture of each slate. */
function shownBy(rig: SlateRig): Uint8Array[] {
  const { renditions } = rig.outputs;
  const listed = renditions.find(({ name }) => name === "source")?.listed ?? [];
  return listed
    .filter(({ isSlate }) => isSlate)
    .map(({ parts }) => Uint8Array.from(samplesIn(parts[0]?.views ?? [], VIDEO_TRACK)[0]?.data.bytes ?? []));
}

describe("a stream with an image of its own", () => {
  const image = Uint8Array.from([0, 0, 0, 5, 0x65, 0x88, 0x84, 7, 7]);

  test("shows it as a keyframe of the source's configuration, which is asked for once, before the source is lost", async () => {
    const asked: Uint8Array[] = [];
    const rig = new SlateRig({
      makeSlate: async (config) => {
        asked.push(config);
        return image;
      },
    });
    rig.send({ seconds: 5 });
    expect(asked).toEqual([VIDEO.config]);
    await new Promise((resolve) => setImmediate(resolve));
    rig.timeline.pause();
    rig.wait(6_000);
    const shown = shownBy(rig);
    expect(shown.length).toBeGreaterThanOrEqual(2);
    for (const picture of shown) expect(picture).toEqual(image);
    rig.timeline.publisher();
    rig.send({ seconds: 5, clockAt: 50 });
    expect(asked).toHaveLength(1);
    const segments = rig.of("source");
    expect(new Set(segments.map(({ init }) => init?.name)).size).toBe(1);
    expect(segments.some(({ discontinuity }) => discontinuity)).toBe(false);
  });

  test.each([
    ["not made yet", () => new Promise<null>(() => {})],
    ["none for this configuration", async () => null],
    ["not made because the decoder is busy", () => Promise.reject(new Error("too many waiting"))],
  ] satisfies [string, MakeSlate][])("shows the last picture where it is %s", async (_, makeSlate) => {
    const rig = new SlateRig({ makeSlate });
    rig.send({ seconds: 5 });
    await new Promise((resolve) => setImmediate(resolve));
    rig.timeline.pause();
    rig.wait(6_000);
    const shown = shownBy(rig);
    expect(shown.length).toBeGreaterThanOrEqual(2);
    for (const picture of shown) expect(picture).not.toEqual(image);
  });

  test("asks again with the next segment if the decoder was busy, for one configuration at a time", async () => {
    let asked = 0;
    const rig = new SlateRig({
      makeSlate: async () => {
        asked++;
        if (asked === 1) throw new Error("too many waiting");
        return image;
      },
    });
    rig.send({ seconds: 3 });
    expect(asked).toBe(1);
    await new Promise((resolve) => setImmediate(resolve));
    rig.send({ seconds: 5, clockAt: 3 });
    await new Promise((resolve) => setImmediate(resolve));
    expect(asked).toBe(2);
    rig.timeline.pause();
    rig.wait(4_000);
    expect(shownBy(rig)[0]).toEqual(image);
  });
});

describe("no slate is shown", () => {
  const away = (rig: SlateRig, ms: number) => {
    rig.timeline.pause();
    rig.wait(ms);
    rig.timeline.publisher();
    rig.send({ seconds: 3, clockAt: 50 });
  };

  test("where the stream has none", () => {
    const rig = new SlateRig({ hasSlate: false });
    rig.send({ seconds: 5 });
    away(rig, 5_000);
    expect(rig.slates("source")).toEqual([]);
  });

  test("for a source that is back at once", () => {
    const rig = new SlateRig();
    rig.send({ seconds: 5 });
    away(rig, 400);
    expect(rig.slates("source")).toEqual([]);
  });

  test("for other codecs than H.264, and for sound alone", () => {
    const rig = new SlateRig();
    rig.send({ seconds: 5 }, { ...VIDEO, codec: "hevc", codecString: "hvc1.1.6.L93.B0" });
    rig.timeline.pause();
    rig.wait(5_000);
    expect(rig.slates("source")).toEqual([]);
    const sound = new SlateRig();
    sound.send({ seconds: 5, video: false });
    sound.timeline.pause();
    sound.wait(5_000);
    expect(sound.slates("audio")).toEqual([]);
  });
});

test("a source without sound has a slate of pictures alone", () => {
  const rig = new SlateRig();
  rig.send({ seconds: 5, audio: false });
  rig.timeline.pause();
  rig.wait(5_000);
  rig.timeline.publisher();
  rig.send({ seconds: 3, clockAt: 50, audio: false });
  expect(rig.slates("source").length).toBeGreaterThan(1);
  expect(rig.outputs.renditions.map(({ name }) => name)).toEqual(["source"]);
  for (const hole of rig.holes("source")) expect(Math.abs(hole)).toBeLessThan(0.01);
});

test("a publisher that connects and sends no keyframe does not end the slate", () => {
  const rig = new SlateRig();
  rig.send({ seconds: 5 });
  rig.timeline.pause();
  rig.wait(3_000);
  rig.timeline.publisher();
  rig.timeline.pause();
  rig.timeline.publisher();
  rig.wait(3_000);
  const numbers = rig.slates("source");
  expect(numbers.length).toBeGreaterThanOrEqual(2);
  expect(rig.fed.filter((each) => each === "pause")).toHaveLength(1);
  rig.timeline.end();
  expect(rig.slates("source").at(-1)).toBe((numbers[0] ?? 0) + rig.slates("source").length - 1);
});

test("a session that ends during its slate closes it in every rendition", () => {
  const rig = new SlateRig();
  rig.send({ seconds: 5 });
  rig.timeline.pause();
  rig.wait(3_300);
  rig.timeline.end();
  expect(rig.slates("source")).toEqual(rig.slates("audio"));
  expect(rig.outputs.renditions.map(({ open, hasEnded }) => [open, hasEnded])).toEqual([
    [null, true],
    [null, true],
  ]);
  expect(rig.fed.at(-1)).toBe("end");
  rig.wait(2_000);
  expect(rig.slates("source")).toHaveLength(2);
});
