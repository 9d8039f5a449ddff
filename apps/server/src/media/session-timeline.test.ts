import { describe, expect, test, vi } from "vitest";
import { ManualClock } from "../platform/manual-clock-rig.ts";
import type { TimelinePosition } from "../ports/index.ts";
import { openMediaMemory } from "./memory-pool.ts";
import { liveMultivariant } from "./packaging/hls/live-multivariant.ts";
import { LiveRendition } from "./packaging/live-rendition.ts";
import type { RenditionSegment } from "./packaging/segment-ledger.ts";
import { Payload } from "./packet.ts";
import type { SessionOutputs } from "./session-outputs.ts";
import { openTimeline } from "./session-timeline.ts";
import {
  type Arrival,
  AUDIO,
  SECOND_AUDIO,
  type SourceShape,
  syntheticSource,
  VIDEO,
  withSecondAudio,
} from "./testing/synthetic-source.ts";
import { play } from "./testing/timeline-rig.ts";
import type { Timeline } from "./timeline/timeline.ts";

class SessionRig {
  readonly clock = new ManualClock(Date.UTC(2030, 0, 1));
  readonly closed: { msn: number; renditions: string[]; position: TimelinePosition }[] = [];
  readonly timeline: Timeline;
  readonly outputs: SessionOutputs;

  constructor(resume: TimelinePosition | null = null, window: ReadonlyMap<string, LiveRendition> = new Map()) {
    const { timeline, outputs } = openTimeline({
      clock: this.clock,
      memory: openMediaMemory().parts,
      window,
      resume,
      lastTargetDuration: null,
      lastSound: null,
      hasSlate: false,
      onSegment: (segments: readonly RenditionSegment[], position) =>
        this.closed.push({
          msn: segments[0]?.segment.msn ?? 0,
          renditions: segments.map(({ rendition, segment }) => `${rendition.name}${segment.init ? "" : " gap"}`).sort(),
          position,
        }),
      onUnstable: () => {},
      ladder: null,
    });
    this.timeline = timeline;
    this.outputs = outputs;
  }

  send(shape: SourceShape, change: (arrivals: Arrival[]) => Arrival[] = (same) => same, video = VIDEO): void {
    const { timeline } = this;
    if (shape.video !== false) timeline.track(video);
    if (shape.audio !== false) timeline.track(AUDIO);
    play(
      this.clock,
      change(syntheticSource(shape)),
      ({ packet }) => timeline.packet(packet),
      () => timeline.tick(),
    );
  }

  /** Numbers of the segments behind a discontinuity, of each rendition. */
  get discontinuities(): number[][] {
    return this.outputs.renditions.map(({ listed }) =>
      listed.filter(({ discontinuity }) => discontinuity).map(({ msn }) => msn),
    );
  }

  playlist(rendition: string): string {
    return this.outputs.playlist(rendition)?.text() ?? "";
  }

  partSeconds(rendition: string): number[] {
    return [...this.playlist(rendition).matchAll(/EXT-X-PART:DURATION=([\d.]+)/g)].map(([, seconds]) =>
      Number(seconds),
    );
  }
}

describe("playlists", () => {
  test("of one rendition whose source is away end in a line behind the last segment, or hls.js takes it for the open one", () => {
    const rig = new SessionRig();
    rig.send({ seconds: 5, audio: false });
    rig.timeline.pause();
    expect(rig.playlist("source")).toMatch(/\n3\.m4s\n#[^\n]*\n$/);
    expect(rig.playlist("source")).not.toContain("PRELOAD-HINT");
  });

  test("have sound that comes first after a reconnect without a discontinuity, at the number of the pictures", () => {
    const rig = new SessionRig();
    rig.send({ seconds: 4, audio: false });
    rig.timeline.publisher();
    rig.send({ seconds: 5, clockAt: 50 });
    expect(rig.discontinuities).toEqual([[], []]);
    const numbers = rig.outputs.renditions.map(({ listed }) => listed.map(({ msn }) => msn));
    expect(numbers).toEqual([
      [1, 2, 3, 4],
      [3, 4],
    ]);
  });

  test("have silence for sound that is lost, with parts and hints as before, and no gap", () => {
    const rig = new SessionRig();
    rig.send({ seconds: 4 });
    rig.timeline.publisher();
    rig.send({ seconds: 7, clockAt: 50, audio: false });
    expect(rig.playlist("audio")).not.toContain("EXT-X-GAP");
    expect(rig.playlist("audio")).toMatch(/PRELOAD-HINT:TYPE=PART,URI="6\.\d\.m4s"/);
    expect(rig.outputs.listed.map(({ rendition }) => rendition.name)).toEqual(["source", "audio"]);
  });

  test("of a live stream list segments, the newest parts, the next one and the sibling", () => {
    const rig = new SessionRig();
    rig.send({ seconds: 4.5 });
    const init = /init-[0-9a-f]{8}\.mp4/.exec(rig.playlist("source"))?.[0];
    const parts = (msn: number, count: number) =>
      Array.from(
        { length: count },
        (_, index) => `#EXT-X-PART:DURATION=0.33333,URI="${msn}.${index}.m4s"${index === 0 ? ",INDEPENDENT=YES" : ""}`,
      );
    expect(rig.playlist("source").trimEnd().split("\n")).toEqual([
      "#EXTM3U",
      "#EXT-X-VERSION:6",
      "#EXT-X-TARGETDURATION:2",
      "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.03",
      "#EXT-X-PART-INF:PART-TARGET=0.334",
      "#EXT-X-MEDIA-SEQUENCE:1",
      "#EXT-X-INDEPENDENT-SEGMENTS",
      `#EXT-X-MAP:URI="${init}"`,
      "#EXT-X-PROGRAM-DATE-TIME:2030-01-01T00:00:00.000Z",
      ...parts(1, 6),
      "#EXTINF:2.00000,",
      "1.m4s",
      "#EXT-X-PROGRAM-DATE-TIME:2030-01-01T00:00:02.000Z",
      ...parts(2, 6),
      "#EXTINF:2.00000,",
      "2.m4s",
      "#EXT-X-PROGRAM-DATE-TIME:2030-01-01T00:00:04.000Z",
      ...parts(3, 1),
      '#EXT-X-PRELOAD-HINT:TYPE=PART,URI="3.1.m4s"',
      '#EXT-X-RENDITION-REPORT:URI="../audio/index.m3u8",LAST-MSN=2,LAST-PART=3',
    ]);
  });

  test("keep what three target durations need, and forget what nobody may still ask for", () => {
    const rig = new SessionRig();
    rig.send({ seconds: 60 });
    const source = rig.outputs.renditions[0];
    const listed = source?.listed.map(({ msn }) => msn) ?? [];
    expect(listed).toEqual([24, 25, 26, 27, 28, 29]);
    // RFC 8216 6.2.2: segment 16 fell out of the list 14 s ago, and was in one of 14 s.
    expect(source?.segment(16)).toBeDefined();
    expect(source?.segment(15)).toBeUndefined();
  });

  test("end with the session, without low-latency tags", () => {
    const rig = new SessionRig();
    rig.send({ seconds: 3 });
    rig.timeline.end();
    expect(rig.playlist("source")).toMatch(/EXTINF:1\.00000,\n2\.m4s\n#EXT-X-ENDLIST\n$/);
    expect(rig.playlist("source")).not.toMatch(/PART|PRELOAD/);
  });

  test("count the discontinuities that left the list", () => {
    const rig = new SessionRig({
      nextMsn: 17,
      discontinuitySequence: 4,
      endTicks: 90_000,
      targetDuration: 2,
      neededTargetDuration: 2,
      sound: null,
    });
    rig.send({ seconds: 5 });
    expect(rig.playlist("audio")).toMatch(/DISCONTINUITY-SEQUENCE:4\n.*#EXT-X-DISCONTINUITY\n.*17\.m4s/s);
    rig.send({ seconds: 30, clockAt: 5 }, (arrivals) => arrivals);
    expect(rig.playlist("audio")).toMatch(/DISCONTINUITY-SEQUENCE:5\n/);
  });
});

describe("the multivariant playlist", () => {
  const listOf = ({ outputs }: SessionRig) => liveMultivariant(outputs.listed, (name) => name);
  const rateIn = (text: string) => text.match(/FRAME-RATE=([\d.]+)/)?.[1];

  test("has the frame rate that the encoder declares, from the first list on", () => {
    const rig = new SessionRig();
    rig.send({ seconds: 1 }, (same) => same, { ...VIDEO, frameRate: 30000 / 1001 });
    expect(rateIn(listOf(rig))).toBe("29.970");
    rig.send({ seconds: 9, clockAt: 1, frameRate: 20 }, (same) => same, { ...VIDEO, frameRate: 30000 / 1001 });
    expect(rateIn(listOf(rig))).toBe("29.970");
  });

  test("has a frame rate that is measured once, rounded to a common one, and never another", () => {
    const rig = new SessionRig();
    rig.send({ seconds: 1, milliseconds: true });
    expect(rateIn(listOf(rig))).toBeUndefined();
    rig.send({ seconds: 3, clockAt: 1, milliseconds: true });
    expect(rateIn(listOf(rig))).toBe("30.000");
    rig.send({ seconds: 20, clockAt: 4, frameRate: 15 });
    expect(rateIn(listOf(rig))).toBe("30.000");
  });

  test("of audio alone has its average bitrate, and the version of EXT-X-MAP", () => {
    const rig = new SessionRig();
    rig.send({ seconds: 6, video: false });
    expect(listOf(rig)).toMatch(/^#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-STREAM-INF:BANDWIDTH=\d+,AVERAGE-BANDWIDTH=\d+,/);
  });
});

test("program date times step by the durations of the segments, to the millisecond, also of audio", () => {
  const rig = new SessionRig();
  rig.send({ seconds: 13 });
  for (const rendition of rig.outputs.renditions) {
    for (const [index, segment] of rendition.listed.entries()) {
      const before = rendition.listed[index - 1];
      if (before) {
        const step = segment.programDateTimeMs - before.programDateTimeMs;
        expect(Math.abs(step - before.seconds * 1000), `${rendition.name} ${segment.msn}`).toBeLessThanOrEqual(1);
      }
    }
  }
});

/** What is listed while this source plays, with its tracks announced. */
function listsOf(source: readonly Arrival[]): string[] {
  const { clock, timeline, outputs } = new SessionRig();
  const seen = new Set<string>();
  timeline.track(VIDEO);
  timeline.track(AUDIO);
  play(
    clock,
    source,
    ({ packet }) => {
      timeline.packet(packet);
      seen.add(outputs.listed.map(({ rendition }) => rendition.name).join());
    },
    () => timeline.tick(),
  );
  return [...seen];
}

test("the multivariant playlist has the sound from its first moment on, since players read it once", () => {
  expect(listsOf(syntheticSource({ seconds: 3, frameRate: 15, bFrames: 2 }))).toEqual(["", "source,audio"]);
});

test("the multivariant playlist has the pictures from its first moment on, although sound comes first", () => {
  const source = syntheticSource({ seconds: 3, frameRate: 15 });
  const late = source.map(({ at, packet }) => ({ at: packet.kind === "video" ? at + 500 : at, packet }));
  expect(listsOf(late.toSorted((a, b) => a.at - b.at))).toEqual(["", "source,audio"]);
  // Pictures that are announced and never come keep nobody waiting for longer than a segment.
  expect(listsOf(syntheticSource({ seconds: 9, video: false }))).toEqual(["", "audio"]);
});

describe("the bandwidth of the multivariant playlist", () => {
  const bandwidth = ({ outputs }: SessionRig) =>
    Number(/BANDWIDTH=(\d+)/.exec(liveMultivariant(outputs.listed, (name) => name))?.[1]);

  test("has a larger margin while it is measured by less than three segments", () => {
    const rig = new SessionRig();
    rig.send({ seconds: 1.5, audio: false, frameBytes: 4000 });
    expect(bandwidth(rig)).toBeGreaterThan(1.45 * 30 * 4000 * 8);
    rig.send({ seconds: 8, audio: false, frameBytes: 4000, clockAt: 1.5 });
    expect(bandwidth(rig)).toBeLessThan(1.2 * 30 * 4000 * 8);
  });

  test("is what the encoder announces from the first list on, where its first pictures have less", () => {
    const rig = new SessionRig();
    rig.send({ seconds: 1.5, audio: false, frameBytes: 1800 }, undefined, { ...VIDEO, announcedBps: 1_032_344 });
    expect(bandwidth(rig)).toBe(1_135_579);
    rig.send({ seconds: 20, audio: false, frameBytes: 10_000, clockAt: 1.5 });
    expect(bandwidth(rig)).toBeGreaterThan(30 * 10_000 * 8);
  });

  test("does not fall when the segment with the peak has left the list", () => {
    const rig = new SessionRig();
    rig.send({ seconds: 4, audio: false, frameBytes: 8000 });
    rig.send({ seconds: 40, audio: false, frameBytes: 100, clockAt: 4 });
    expect(bandwidth(rig)).toBeGreaterThan(1.05 * 30 * 8000 * 8);
  });
});

describe("preload hints", () => {
  test.each([24, 30, 60])(
    "of a source of %i frames a second are there at any moment, and each comes true",
    async (frameRate) => {
      const { timeline, outputs, clock } = new SessionRig();
      timeline.track(VIDEO);
      timeline.track(AUDIO);
      const hinted = new Set<string>();
      const published = new Set<string>();
      const listen = (rendition: LiveRendition) => {
        const text = outputs.playlist(rendition.name)?.text() ?? "";
        const hint = /PRELOAD-HINT:TYPE=PART,URI="(.*)"/.exec(text)?.[1];
        hinted.add(`${rendition.name}/${hint ?? `none at ${clock.monotonic()}`}`);
        for (const [, uri] of text.matchAll(/EXT-X-PART:.*URI="(.*?)"/g)) published.add(`${rendition.name}/${uri}`);
      };
      let at = 0;
      for (const arrival of syntheticSource({ seconds: 9, frameRate })) {
        clock.advance(arrival.at - at);
        at = arrival.at;
        const known = outputs.renditions;
        timeline.packet(arrival.packet);
        // What a plain answer sees between two packets, and a blocked one that is woken.
        for (const rendition of outputs.renditions) {
          if (!known.includes(rendition)) rendition.onChange(() => listen(rendition));
          else listen(rendition);
        }
        await Promise.resolve();
      }
      const untrue = [...hinted].filter((hint) => !published.has(hint));
      // The part that is being made when the source stops.
      expect(untrue.map((hint) => hint.replace(/\/.*/, "")).sort()).toEqual(["audio", "source"]);
      expect(hinted.size).toBeGreaterThan(4 * (6 + 4));
    },
  );
});

describe("parts", () => {
  test.each([
    [120, 0.334],
    [60, 0.334],
    [59.94, 0.334],
    [50, 0.334],
    [30, 0.334],
    [29.97, 0.334],
    [25, 0.334],
    [24, 0.334],
    [15, 0.334],
    [12, 0.334],
    [10, 0.5],
    [5, 1],
    [2, 0.5],
    [1, 1],
  ])("of %f frames a second fill 85 percent of a target of %f s and never exceed it", (frameRate, target) => {
    const rig = new SessionRig();
    rig.send({ seconds: 12.4, frameRate, gopSeconds: 2, milliseconds: true });
    expect(rig.playlist("source")).toContain(`PART-TARGET=${target}`);
    const whole = rig.partSeconds("source");
    expect(whole.length).toBeGreaterThan(2);
    for (const seconds of whole) expect(seconds).toBeLessThanOrEqual(target + 0.001);
    const short = whole.filter((seconds) => seconds < target * 0.85);
    // Only the last part of a segment may be short.
    expect(short.length).toBeLessThanOrEqual(3);
  });

  test.each([
    [30, 0.513, 1.03],
    [10, 0.513, 1.51],
    [1, 1, 3.01],
  ])(
    "of audio beside %f pictures a second are longer, within half the hold-back that both lists name",
    (frameRate, target, holdBack) => {
      const rig = new SessionRig();
      rig.send({ seconds: 12.4, frameRate, gopSeconds: 2 });
      for (const name of ["source", "audio"]) expect(rig.playlist(name)).toContain(`PART-HOLD-BACK=${holdBack}`);
      expect(rig.playlist("audio")).toContain(`PART-TARGET=${target}`);
      expect(holdBack).toBeGreaterThanOrEqual(2 * target);
      const parts = rig.partSeconds("audio");
      expect(parts.length).toBeGreaterThan(2);
      for (const seconds of parts) expect(seconds).toBeLessThanOrEqual(target + 0.001);
      expect(parts.filter((seconds) => seconds < target * 0.85).length).toBeLessThanOrEqual(3);
    },
  );

  test("of audio alone are as short as those of pictures", () => {
    const rig = new SessionRig();
    rig.send({ seconds: 9, video: false });
    expect(rig.playlist("audio")).toContain("PART-TARGET=0.334");
    for (const seconds of rig.partSeconds("audio")) expect(seconds).toBeLessThanOrEqual(0.335);
  });

  test("hold exactly the bytes that came in, each once", () => {
    const rig = new SessionRig();
    rig.send({ seconds: 4, audio: false, frameBytes: 1000 });
    const segment = rig.outputs.renditions[0]?.segment(1);
    const bytes = Buffer.concat(segment?.views ?? []);
    const frame = (value: number) => Buffer.alloc(1000, value);
    for (const value of [0, 1, 30, 59]) expect(bytes.indexOf(frame(value))).toBeGreaterThan(0);
    expect(bytes.indexOf(frame(60))).toBe(-1);
    expect(bytes.length).toBeLessThan(60 * 1000 + 60 * 16 + 6 * 150);
  });
});

describe("segments", () => {
  test("have the same sequence numbers in all renditions and are told once, whole and in order", () => {
    const rig = new SessionRig();
    rig.send({ seconds: 9 });
    expect(rig.closed.map(({ msn, renditions }) => [msn, ...renditions])).toEqual([
      [1, "audio", "source"],
      [2, "audio", "source"],
      [3, "audio", "source"],
      [4, "audio", "source"],
    ]);
    expect(rig.closed[3]?.position.nextMsn).toBe(6);
  });

  test("without video are gaps in the video rendition", () => {
    const rig = new SessionRig();
    rig.send({ seconds: 16 }, (arrivals) =>
      arrivals.filter(({ at, packet }) => packet.kind === "audio" || at < 4000 || at > 13_900),
    );
    const gaps = rig.closed.filter(({ renditions }) => renditions.includes("source gap"));
    expect(gaps.length).toBeGreaterThanOrEqual(3);
    expect(rig.playlist("source")).toMatch(/#EXT-X-GAP\n#EXTINF:2\.0/);
    expect(rig.closed.map(({ msn }) => msn)).toEqual(rig.closed.map((_, index) => index + 1));
  });

  test("of a stream without audio come without an audio group", () => {
    const rig = new SessionRig();
    rig.send({ seconds: 3, audio: false });
    expect(rig.outputs.renditions.map(({ name }) => name)).toEqual(["source"]);
  });

  test("of every rendition carry the discontinuity of a changed resolution at the same sequence number", () => {
    const rig = new SessionRig();
    rig.send({ seconds: 4 });
    rig.timeline.publisher();
    const config = Uint8Array.from(VIDEO.config);
    config[3] = 0x1f;
    rig.send({ seconds: 5, clockAt: 50 }, (same) => same, { ...VIDEO, config });
    expect(rig.discontinuities).toEqual([[3], [3]]);
  });

  test.each([0, 2])(
    "of an encoder that comes back as it was go on without a discontinuity or a hole, with %i B-frames",
    (bFrames) => {
      const rig = new SessionRig();
      // The connection broke inside a GOP, and some of the video was lost with it.
      rig.send({ seconds: 5.1, bFrames }, (arrivals) =>
        arrivals.filter(({ at, packet }) => packet.kind === "audio" || at < 4900),
      );
      rig.timeline.pause();
      rig.clock.advance(5000);
      rig.timeline.publisher();
      rig.send({ seconds: 5, bFrames, clockAt: 500 });
      expect(rig.discontinuities).toEqual([[], []]);
      for (const rendition of ["source", "audio"]) {
        expect(rig.playlist(rendition)).not.toContain("#EXT-X-DISCONTINUITY");
        expect(rig.playlist(rendition).match(/#EXT-X-MAP/g)).toHaveLength(1);
        expect(holesBetweenFragments(rig.outputs.renditions.find(({ name }) => name === rendition))).toEqual([]);
      }
    },
  );

  test("are bounded by bytes where the source's clock stands still, with the same numbers in all renditions", () => {
    const rig = new SessionRig();
    const data = new Payload(new Uint8Array(800_000));
    const kept = () => rig.outputs.renditions.reduce((sum, rendition) => sum + keptBytes(rendition), 0);
    let most = 0;
    rig.send({ seconds: 16 }, (arrivals) =>
      arrivals.map(({ at, packet }, index) => {
        if (index % 100 === 0) most = Math.max(most, kept());
        if (packet.kind === "audio") return { at, packet };
        return {
          at,
          packet: { ...packet, data, dts: Math.min(packet.dts, 90_000), pts: Math.min(packet.pts, 90_000) },
        };
      }),
    );
    const [source, audio] = rig.outputs.renditions;
    expect(Math.max(most, kept())).toBeLessThan(300 * MEGABYTE);
    expect(source?.listed.length).toBeGreaterThan(2);
    const numbers = source?.listed.map(({ msn }) => msn) ?? [];
    expect(audio?.listed.slice(-numbers.length).map(({ msn }) => msn)).toEqual(numbers);
    for (const { bytes, parts } of source?.listed ?? []) {
      expect(bytes).toBeLessThan(34 * MEGABYTE);
      for (const part of parts) expect(part.byteLength).toBeLessThan(9 * MEGABYTE);
    }
  });

  test("are bounded by their samples where those are tiny", () => {
    const rig = new SessionRig();
    const { timeline } = rig;
    timeline.track(VIDEO);
    for (let frame = 0; frame < 50_000; frame++) {
      const data = new Payload(new Uint8Array(1));
      timeline.packet({ trackId: 0, kind: "video", dts: frame, pts: frame, isIndependent: frame === 0, data });
      if (frame === 0) rig.clock.advance(1000);
    }
    const [source] = rig.outputs.renditions;
    expect(source?.listed.every(({ frames, parts }) => frames <= 4000 && parts.every((p) => p.frames <= 1000))).toBe(
      true,
    );
    expect(source?.listed.at(-1)?.msn).toBe(12);
  });
});

test("a payload that a second reader retains keeps its bytes while the packager is long past it", () => {
  const { timeline, clock } = new SessionRig();
  const { packets } = openMediaMemory();
  const payload = (value: number) => {
    const bytes = packets.allocate(1000);
    bytes.fill(value);
    return new Payload(bytes, packets);
  };
  const kept = payload(201);
  kept.retain();
  timeline.track(VIDEO);
  for (let frame = 0; frame < 180; frame++) {
    const time = frame * 3000;
    const data = frame === 30 ? kept : payload(frame);
    timeline.packet({ trackId: 0, kind: "video", dts: time, pts: time, isIndependent: frame % 60 === 0, data });
    clock.advance(33);
  }
  expect(new Set(kept.bytes)).toEqual(new Set([201]));
  kept.release();
  expect(packets.allocate(1000).buffer).toBe(kept.bytes.buffer);
});

const MEGABYTE = 1024 * 1024;

/** Ticks between the end of each fragment, by its durations, and the decoding time that the next one says. */
function holesBetweenFragments(rendition: LiveRendition | undefined): number[] {
  const parts = rendition?.listed.flatMap((segment) => segment.parts) ?? [];
  const starts = parts.map(({ views }) => {
    const bytes = Buffer.concat(views);
    return Number(bytes.readBigUInt64BE(bytes.indexOf("tfdt") + 8));
  });
  return parts.flatMap(({ durationTicks }, index) => {
    const hole = (starts[index + 1] ?? Number.NaN) - (starts[index] ?? 0) - durationTicks;
    return hole === 0 || Number.isNaN(hole) ? [] : [hole];
  });
}

/** The content of the rendition's window, the open segment included. */
function keptBytes(rendition: LiveRendition): number {
  const newest = rendition.open?.msn ?? rendition.listed.at(-1)?.msn ?? 0;
  let bytes = 0;
  for (let msn = 0; msn <= newest; msn++) bytes += rendition.segment(msn)?.bytes ?? 0;
  return bytes;
}

describe("a second audio track", () => {
  test.each([true, false])(
    "is a rendition of its own with the same segments as the others (with video: %s)",
    (video) => {
      const rig = new SessionRig();
      rig.timeline.track(SECOND_AUDIO);
      rig.send({ seconds: 7, video }, withSecondAudio);
      rig.timeline.end();
      const names = [...(video ? ["source"] : []), "audio", "audio2"];
      expect(rig.outputs.renditions.map(({ name }) => name)).toEqual(names);
      expect(rig.closed.map(({ renditions }) => renditions)).toEqual(Array(4).fill([...names].sort()));
      const segments = (name: string) => rig.playlist(name).match(/EXTINF.*/g);
      expect(segments("audio2")).toEqual(segments("audio"));
    },
  );

  test("is not offered to viewers yet", () => {
    const rig = new SessionRig();
    rig.timeline.track(SECOND_AUDIO);
    rig.send({ seconds: 7 }, withSecondAudio);
    const playlist = liveMultivariant(rig.outputs.listed, (name) => `${name}.m3u8`);
    expect(playlist).toContain("audio.m3u8");
    expect(playlist).not.toContain("audio2");
  });
});

describe("a reader that joins a stream while it is live", () => {
  interface Picture {
    readonly kind: string;
    readonly time: number;
    readonly isIndependent: boolean;
    readonly data: Payload;
  }
  const join = (rig: SessionRig) => {
    const pictures: { time: number; isIndependent: boolean; bytes: Buffer }[] = [];
    const sink = { stretch() {}, cut() {}, pause() {}, end() {} };
    const sample = ({ kind, time, isIndependent, data }: Picture) =>
      kind === "video" && void pictures.push({ time, isIndependent, bytes: Buffer.from(data.bytes) });
    rig.outputs.feed.attach({ ...sink, sample }, { from: "window" });
    return pictures;
  };
  const cutsOf = (rig: SessionRig) => {
    const cuts: unknown[] = [];
    const sink = { stretch() {}, sample() {}, pause() {}, end() {} };
    rig.outputs.feed.attach({ ...sink, cut: (cut) => void cuts.push(cut) }, { from: "window" });
    return cuts;
  };

  test.each([0, 2])(
    "begins at the last IDR, out of the live window, and misses no picture after it (%i B-frames)",
    (bFrames) => {
      const all = new SessionRig();
      const expected = join(all);
      all.send({ seconds: 6, bFrames });
      const rig = new SessionRig();
      rig.send({ seconds: 4.5, bFrames });
      const pictures = join(rig);
      expect([pictures.length, pictures[0]?.isIndependent]).toEqual([14, true]);
      const missed = expected.findIndex(({ time, isIndependent }) => isIndependent && time === pictures[0]?.time);
      expect(pictures.slice(0, 14)).toEqual(expected.slice(missed, missed + 14));
    },
  );

  test("begins there also where segments begin between keyframes", () => {
    const all = new SessionRig();
    const expected = join(all);
    all.send({ seconds: 9.5, gopSeconds: 20 });
    const rig = new SessionRig();
    rig.send({ seconds: 9.5, gopSeconds: 20 });
    expect(join(rig)).toEqual(expected);
    expect(expected).toHaveLength(284);
  });

  test.each([0, 2])("is given the cuts of the segments since then as they were (%i B-frames)", (bFrames) => {
    const rig = new SessionRig();
    const expected = cutsOf(rig);
    rig.send({ seconds: 9.5, gopSeconds: 20, bFrames });
    expect(expected).toHaveLength(4);
    expect(cutsOf(rig)).toEqual(expected);
  });

  test.each([
    ["where the live window has none", { seconds: 40, gopSeconds: 60 }],
    ["behind more than 16 MiB", { seconds: 1.5, frameBytes: 512 * 1024 }],
  ])("waits for the next IDR %s", (_, shape) => {
    const rig = new SessionRig();
    rig.send(shape);
    expect(join(rig)).toEqual([]);
    expect(cutsOf(rig)).toHaveLength(1);
  });
});

test("of the window of the owner before, what no output goes on with is released when the session moves again", () => {
  const clock = new ManualClock();
  const [source, rung] = ["source", "1080p"].map((name) => new LiveRendition(name, 0, { seconds: 2 }, clock));
  if (!source || !rung) throw new Error("two renditions were made");
  const released = [source, rung].map((rendition) => vi.spyOn(rendition, "dispose"));
  const rig = new SessionRig(null, new Map([source, rung].map((rendition) => [rendition.name, rendition])));
  rig.send({ seconds: 3 });
  expect(rig.outputs.renditions).toContain(source);
  rig.outputs.moved();
  expect(released.map(({ mock }) => mock.calls.length)).toEqual([0, 1]);
});
