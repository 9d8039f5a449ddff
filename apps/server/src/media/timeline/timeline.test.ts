import { describe, expect, test } from "vitest";
import { type OpusTrack, Payload } from "../packet.ts";
import { type Arrival, AUDIO, VIDEO } from "../testing/synthetic-source.ts";
import { TimelineRig } from "../testing/timeline-rig.ts";
import type { Sample } from "./timeline-sink.ts";

const SECOND = 90_000;
const FOUR_SECONDS = { targetDuration: 4, neededTargetDuration: 4, sound: null };

/** Shifts every packet from `second` on by `by` seconds of the source's clock. */
const jump = (second: number, by: number, kind?: "video" | "audio") => (arrivals: Arrival[]) =>
  arrivals.map(({ at, packet }) => {
    const moves = at >= second * 1000 && (kind === undefined || packet.kind === kind);
    const ticks = moves ? by * SECOND : 0;
    return { at, packet: { ...packet, dts: packet.dts + ticks, pts: packet.pts + ticks } };
  });

const without = (from: number, to: number, kind?: "video" | "audio") => (arrivals: Arrival[]) =>
  arrivals.filter(
    ({ at, packet }) => at < from * 1000 || at >= to * 1000 || (kind !== undefined && packet.kind !== kind),
  );

/** A NAL unit with encoder settings as x264 writes it. */
function x264Settings(keyint: string): Uint8Array {
  const unit = Buffer.from(`\x06\x05\xff x264 - core 164 - options: keyint=${keyint} `, "latin1");
  return Uint8Array.from([0, 0, 0, unit.length, ...unit]);
}

function holes(samples: readonly Sample[]): number[] {
  return samples.slice(1).flatMap((sample, index) => {
    const before = samples[index];
    const hole = before ? sample.decodeTime - before.decodeTime - before.duration : 0;
    return hole === 0 ? [] : [hole];
  });
}

describe("zero and T", () => {
  test("zero is the PTS of the first IDR, and earlier audio is dropped", () => {
    const rig = new TimelineRig();
    rig.send({ seconds: 3, clockAt: 1000 }, (arrivals) =>
      arrivals.filter(({ at, packet }) => packet.kind === "audio" || at >= 500),
    );
    // The first IDR after half a second is at second 2 of the source.
    expect(rig.of("video")[0]).toMatchObject({ time: 0, decodeTime: 0, isIndependent: true });
    expect(rig.of("audio")[0]?.time).toBeLessThan(1024);
    expect(rig.of("audio")[0]?.time).toBeGreaterThanOrEqual(0);
  });

  test("audio alone starts at its first frame, after waiting 300 ms for video", () => {
    const rig = new TimelineRig();
    rig.send({ seconds: 1, video: false, clockAt: 55 });
    expect(rig.of("audio")[0]?.time).toBe(0);
    expect(rig.stretches).toEqual([[AUDIO]]);
  });

  test("T never repeats a position in 50 days of 30 fps and 48 kHz", () => {
    const rig = new TimelineRig({
      nextMsn: 2_000_000,
      discontinuitySequence: 3,
      endTicks: 50 * 86_400 * SECOND,
      ...FOUR_SECONDS,
    });
    rig.send({ seconds: 5 });
    const times = rig.of("audio").map(({ time }) => time);
    expect(times[0]).toBe(50 * 86_400 * 48_000);
    expect(times.every((time, index) => Number.isSafeInteger(time) && time === (times[0] ?? 0) + index * 1024)).toBe(
      true,
    );
  });

  test("a source with B-frames is decoded from zero, never presented before it is decoded, with audio in sync", () => {
    const rig = new TimelineRig();
    rig.send({ seconds: 5, bFrames: 2, clockAt: 1000 });
    const video = rig.of("video");
    expect(video[0]).toMatchObject({ time: SECOND / 30, decodeTime: 0 });
    expect(video.every(({ time, decodeTime }) => time >= decodeTime)).toBe(true);
    expect(holes(video)).toEqual([]);
    expect(rig.cuts.map(({ ticks }) => ticks - SECOND / 30)).toEqual([0, 2 * SECOND, 4 * SECOND]);
    // In the source, audio and video start at second 1000, the video plus its reorder delay. The first audio frame is at most one frame after that.
    expect((rig.of("audio")[0]?.time ?? 0) / 48_000).toBeGreaterThanOrEqual(1 / 30);
    expect((rig.of("audio")[0]?.time ?? 0) / 48_000).toBeLessThan(1 / 30 + 1024 / 48_000);
  });

  test("repeated DTS advances by one tick, PTS below DTS is raised, and both are counted", () => {
    const rig = new TimelineRig();
    rig.send({ seconds: 1, audio: false }, (arrivals) =>
      arrivals.map(({ at, packet }, index) =>
        index === 10 ? { at, packet: { ...packet, dts: packet.dts - 3000, pts: packet.pts - 6000 } } : { at, packet },
      ),
    );
    const video = rig.of("video");
    expect(video[10]?.decodeTime).toBe((video[9]?.decodeTime ?? 0) + 1);
    expect(video[10]?.time).toBe(video[10]?.decodeTime);
  });
});

describe("cuts", () => {
  test.each([
    [0.5, 2, [0, 2, 4, 6, 8]],
    [1, 2, [0, 2, 4, 6, 8]],
    [1.5, 2, [0, 1.5, 3, 4.5, 6, 7.5, 9]],
    [1.5, 4, [0, 3, 6, 9]],
    [2.4, 2, [0, 2.4, 4.8, 7.2, 9.6]],
    [4, 4, [0, 4, 8]],
  ])("are at IDRs: with one every %f s and a target duration of %i s, at %j", (gopSeconds, target, cuts) => {
    const rig = new TimelineRig(null, target);
    rig.send({ seconds: 10, gopSeconds });
    expect(rig.cutSeconds).toEqual(cuts);
    expect(rig.cuts.map(({ msn }) => msn)).toEqual(cuts.map((_, index) => index + 1));
    expect(rig.timeline.position.targetDuration).toBe(target);
  });

  test.each([10, 40])("keyframes every 2 s that are up to %i ms early or late do not double a segment", (jitterMs) => {
    const rig = new TimelineRig();
    const jitter = [0, -1, 1, -1, 0.3, -0.7, 1, 0.2].map((factor) => Math.round(factor * jitterMs));
    rig.send({ seconds: 30, milliseconds: true }, (arrivals) =>
      arrivals.map(({ at, packet }) => {
        const moved =
          packet.kind === "video" ? (jitter[Math.round(packet.dts / (2 * SECOND)) % jitter.length] ?? 0) : 0;
        return { at, packet: { ...packet, dts: packet.dts + moved * 90, pts: packet.pts + moved * 90 } };
      }),
    );
    expect(rig.cuts).toHaveLength(15);
  });

  test.each([
    [2, null, 2],
    [4, null, 4],
    [null, null, 2],
    [null, "30", 2],
    [null, "60", 4],
    [null, "infinite", 4],
    [4, "30", 2],
    [2, "250", 2],
  ])(
    "if the last session needed %j s and the encoder declares %j frames at 15 fps, the target duration is %i s from the first cut on",
    (lastSession, keyint, target) => {
      const rig = new TimelineRig(null, lastSession);
      rig.timeline.track({ ...VIDEO, frameRate: 15 });
      const first = new Payload(x264Settings(keyint ?? ""));
      rig.send({ seconds: 5, gopSeconds: 1 }, (arrivals) =>
        arrivals.map(({ at, packet }) => {
          const isFirst = packet.kind === "video" && packet.dts === 0;
          return { at, packet: isFirst && keyint !== null ? { ...packet, data: first } : packet };
        }),
      );
      expect(rig.timeline.position).toMatchObject({ targetDuration: target, neededTargetDuration: 2 });
    },
  );

  test("a two-second GOP with millisecond timestamps is not considered shorter", () => {
    const rig = new TimelineRig();
    rig.send({ seconds: 20, frameRate: 30000 / 1001, gopSeconds: 2, milliseconds: true, clockAt: 0.0173 });
    expect(rig.cuts.length).toBe(10);
  });

  test.each([2, 4])("without an IDR are at any frame before a segment rounds to more than %i s", (target) => {
    const rig = new TimelineRig(null, target);
    rig.send({ seconds: 21, gopSeconds: 60 });
    const lengths = rig.cutSeconds.slice(1).map((second, index) => second - (rig.cutSeconds[index] ?? 0));
    expect(lengths.length).toBeGreaterThan(3);
    for (const length of lengths) {
      expect(Math.round(length)).toBe(target);
      expect(length).toBeGreaterThan(target + 0.4);
    }
    expect(rig.timeline.position.neededTargetDuration).toBe(4);
  });

  test("are emitted before the audio after them", () => {
    const rig = new TimelineRig();
    const order: string[] = [];
    rig.cuts.push = (cut) => order.push(`cut ${cut.ticks / SECOND}`);
    rig.samples.push = (sample) =>
      sample.kind === "audio" ? order.push(`${sample.time / 48_000 >= 2 ? "late" : "early"} audio`) : 0;
    // Audio arrives 300 ms ahead of the corresponding video.
    rig.send({ seconds: 4 }, (arrivals) =>
      arrivals
        .map(({ at, packet }) => ({ at: packet.kind === "video" ? at + 300 : at, packet }))
        .sort((a, b) => a.at - b.at),
    );
    expect(order.indexOf("late audio")).toBeGreaterThan(order.indexOf("cut 2"));
    expect(order.lastIndexOf("early audio")).toBeGreaterThan(0);
  });

  test("audio alone is cut every two seconds", () => {
    const rig = new TimelineRig();
    rig.send({ seconds: 7, video: false });
    expect(rig.cuts.length).toBe(4);
    for (const [index, second] of rig.cutSeconds.entries()) expect(second).toBeCloseTo(index * 2, 1);
  });

  test("audio cuts after video has stopped for four seconds; video resumes at an IDR with a cut", () => {
    const rig = new TimelineRig();
    rig.send({ seconds: 20 }, without(4.5, 13, "video"));
    const back = rig.of("video").find(({ time }) => time > 5 * SECOND);
    expect(back).toMatchObject({ time: 14 * SECOND, isIndependent: true });
    expect(rig.cutSeconds).toContain(14);
    expect(rig.cutSeconds.filter((second) => second > 5 && second < 13).length).toBeGreaterThanOrEqual(3);
    expect(rig.stretches.length).toBe(1);
  });
});

describe("audio", () => {
  test("is counted in samples, without gaps", () => {
    const rig = new TimelineRig();
    rig.send({ seconds: 30, milliseconds: true });
    expect(holes(rig.of("audio"))).toEqual([]);
    expect(rig.corrections).toMatchObject({ silentFrames: 0, droppedFrames: 0 });
  });

  test("that drifts from the video's clock is corrected by one frame per segment", () => {
    const rig = new TimelineRig();
    rig.send({ seconds: 60, audioSpeed: 1.002 });
    const { silentFrames, droppedFrames } = rig.corrections;
    expect(silentFrames).toBeGreaterThanOrEqual(3);
    expect(silentFrames).toBeLessThanOrEqual(30);
    expect(droppedFrames).toBe(0);
    expect(holes(rig.of("audio"))).toEqual([]);
  });

  test("that is lost for 300 ms is replaced by silence immediately", () => {
    const rig = new TimelineRig();
    rig.send({ seconds: 6 }, without(3, 3.3, "audio"));
    expect(holes(rig.of("audio"))).toEqual([]);
    expect(rig.corrections.silentFrames).toBeGreaterThanOrEqual(13);
    expect(rig.corrections.silentFrames).toBeLessThanOrEqual(15);
  });

  test("that stops is silent until it returns", () => {
    const rig = new TimelineRig();
    rig.send({ seconds: 16 }, without(5, 11, "audio"));
    expect(holes(rig.of("audio"))).toEqual([]);
    expect(rig.stretches.length).toBe(1);
    expect(rig.of("audio").length).toBeGreaterThan((15.5 * 48_000) / 1024);
  });

  test("that arrives twice is dropped, and its memory released", () => {
    const rig = new TimelineRig();
    let released = 0;
    const pooled = ({ at, packet }: Arrival): Arrival => {
      const data = new Payload(packet.data.bytes, { release: () => released++ });
      return { at, packet: { ...packet, data } };
    };
    rig.send({ seconds: 6 }, (arrivals) => jump(3, -0.5, "audio")(arrivals).map(pooled));
    expect(rig.corrections.droppedFrames).toBeGreaterThan(10);
    expect(released).toBe(rig.corrections.droppedFrames);
  });

  test("that first appears later starts a stretch at the next IDR", () => {
    const rig = new TimelineRig();
    rig.send({ seconds: 3, audio: false });
    rig.timeline.track(AUDIO);
    rig.play(
      jump(
        0,
        3,
      )(
        [0, 1, 2, 3].flatMap((second) => {
          const isIndependent = second === 1;
          const time = second * SECOND;
          const packets: Arrival[] = [
            {
              at: second * 1000,
              packet: {
                trackId: 0,
                kind: "video",
                dts: time,
                pts: time,
                isIndependent,
                data: new Payload(new Uint8Array(1)),
              },
            },
          ];
          return packets;
        }),
      ),
    );
    expect(rig.stretches).toEqual([[VIDEO], [VIDEO, AUDIO]]);
    expect(rig.cuts.at(-1)).toMatchObject({ discontinuity: false });
  });
});

describe("audio frames of different durations", () => {
  const OPUS: OpusTrack = {
    id: 1,
    kind: "audio",
    codec: "opus",
    config: Uint8Array.of(0, 2, 1, 0x38, 0, 0, 0xbb, 0x80, 0, 0, 0),
    codecString: "opus",
    sampleRate: 48_000,
    channels: 2,
  };
  /** Packets of 20 ms and 60 ms in turn. */
  const opusSource = (seconds: number): Arrival[] => {
    const arrivals: Arrival[] = [];
    for (let ms = 0, isLong = false; ms < seconds * 1000; ms += isLong ? 20 : 60) {
      const data = new Payload(isLong ? Uint8Array.of(0xfb, 3, 0) : Uint8Array.of(0xf8, 0));
      arrivals.push({
        at: ms,
        packet: { trackId: 1, kind: "audio", dts: ms * 90, pts: ms * 90, isIndependent: true, data },
      });
      isLong = !isLong;
    }
    return arrivals;
  };

  test("each has its own duration, and none is corrected", () => {
    const rig = new TimelineRig();
    rig.timeline.track(OPUS);
    rig.play(opusSource(5));
    const durations = new Set(rig.of("audio").map(({ duration }) => duration));
    expect([...durations]).toEqual([960, 2880]);
    expect(holes(rig.of("audio"))).toEqual([]);
    expect(rig.corrections).toEqual({ silentFrames: 0, droppedFrames: 0 });
  });

  test("lost packets are replaced by silent ones of the codec, and invalid packets are dropped", () => {
    const rig = new TimelineRig();
    rig.timeline.track(OPUS);
    const broken: Arrival["packet"] = {
      trackId: 1,
      kind: "audio",
      dts: 90,
      pts: 90,
      isIndependent: true,
      data: new Payload(new Uint8Array()),
    };
    rig.play([
      ...without(2, 2.4)(opusSource(4)),
      { at: 4000, packet: { ...broken, dts: 4 * SECOND, pts: 4 * SECOND } },
    ]);
    const silent = rig.of("audio").filter(({ data }) => data.bytes.byteLength === 3 && data.bytes[0] === 0xf8);
    expect(silent).toHaveLength(20);
    expect(silent.every(({ duration }) => duration === 960)).toBe(true);
    expect(holes(rig.of("audio"))).toEqual([]);
    expect(rig.corrections).toEqual({ silentFrames: 20, droppedFrames: 1 });
  });
});

describe("stretches", () => {
  test("start at a jump of five hours: T continues, and both tracks share the new offset", () => {
    const rig = new TimelineRig();
    rig.send({ seconds: 12 }, jump(5, 5 * 3600));
    expect(rig.stretches.length).toBe(2);
    const cut = rig.cuts.find(({ ticks }) => ticks === rig.pauses[0]);
    // The next IDR after the jump is at second 6. The tracks are the same, and T continues.
    expect(cut?.discontinuity).toBe(false);
    expect((cut?.ticks ?? 0) / SECOND).toBeCloseTo(5, 1);
    const video = rig.of("video").find(({ time }) => time >= (cut?.ticks ?? 0));
    const audio = rig.of("audio").find(({ time }) => time / 48_000 >= (cut?.ticks ?? 0) / SECOND);
    expect(video).toMatchObject({ time: cut?.ticks, isIndependent: true });
    expect(Math.abs((audio?.time ?? 0) / 48_000 - (cut?.ticks ?? 0) / SECOND)).toBeLessThan(0.022);
  });

  test("start when the clock is set back, and no time is used twice", () => {
    const rig = new TimelineRig();
    rig.send({ seconds: 12, clockAt: 100 }, jump(5, -90));
    expect(rig.stretches.length).toBe(2);
    const times = rig.of("video").map(({ decodeTime }) => decodeTime);
    expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
  });

  test("keep the packets of the track that jumps last", () => {
    const rig = new TimelineRig();
    const late = (arrivals: Arrival[]) => jump(5.2, 1000, "audio")(jump(5, 1000, "video")(arrivals));
    rig.send({ seconds: 5.19 }, late);
    const before = rig.of("audio").length;
    expect(before).toBeGreaterThan((5 * 48_000) / 1024 - 2);
    expect(rig.stretches.length).toBe(1);
  });

  test("do not start at a step within a second, which stays a gap", () => {
    const rig = new TimelineRig();
    rig.send({ seconds: 8 }, without(3, 3.8));
    expect(rig.stretches.length).toBe(1);
    expect(holes(rig.of("video"))).toEqual([0.8 * SECOND]);
  });

  test("start with changed parameter sets, but not with repeated ones", () => {
    const rig = new TimelineRig();
    rig.send({ seconds: 2.5 });
    rig.timeline.track({ ...VIDEO, config: VIDEO.config.slice() });
    expect(rig.pauses.length).toBe(0);
    rig.timeline.track({ ...VIDEO, config: Uint8Array.of(1, 0x42, 0, 0x1f), width: 320 });
    expect(rig.pauses.length).toBe(1);
    rig.play(
      jump(
        0,
        4,
      )(
        new Array(30).fill(0).map((_, i) => ({
          at: i * 33,
          packet: {
            trackId: 0,
            kind: "video" as const,
            dts: i * 3000,
            pts: i * 3000,
            isIndependent: i === 0,
            data: new Payload(new Uint8Array(1)),
          },
        })),
      ),
    );
    expect(rig.stretches.at(-1)?.[0]).toMatchObject({ width: 320 });
    expect(rig.cuts.at(-1)).toMatchObject({ discontinuity: true, ticks: rig.pauses[0] });
  });

  test("fill audio that ends before the video with silence, and continue its sample count", () => {
    const rig = new TimelineRig();
    // Its last 300 ms were lost with the connection, while all of the video arrived.
    rig.send({ seconds: 3 }, (arrivals) =>
      arrivals
        .filter(({ at, packet }) => packet.kind !== "audio" || at < 2700)
        .map((arrival) => ({ ...arrival, at: Math.min(arrival.at, 2700) })),
    );
    rig.timeline.publisher();
    rig.send({ seconds: 3, clockAt: 77.7 });
    expect(rig.stretches).toHaveLength(2);
    expect(holes(rig.of("audio"))).toEqual([]);
    const offset = (rig.of("audio").at(-1)?.time ?? 0) / 48_000 - (rig.of("video").at(-1)?.time ?? 0) / SECOND;
    expect(Math.abs(offset)).toBeLessThan(0.05);
  });

  test("continue from a saved position with a discontinuity", () => {
    const rig = new TimelineRig({ nextMsn: 40, discontinuitySequence: 2, endTicks: 100 * SECOND, ...FOUR_SECONDS });
    rig.send({ seconds: 3 });
    expect(rig.cuts[0]).toMatchObject({ msn: 40, ticks: 100 * SECOND, discontinuity: true });
    expect(rig.timeline.position).toMatchObject({ nextMsn: 42, discontinuitySequence: 3 });
  });

  test("are refused with a message at the eleventh within a minute", () => {
    const rig = new TimelineRig();
    rig.send({ seconds: 40 }, (arrivals) =>
      arrivals.map(({ at, packet }) => jump(0, Math.floor(at / 2000) * 7)([{ at, packet }])[0] as Arrival),
    );
    expect(rig.unstable[0]).toMatch(/more than 10 times in a minute/);
  });

  test("are followed as often as they come where stray frames are repaired already", () => {
    const rig = new TimelineRig();
    rig.timeline.publisher({ isRepaired: true });
    rig.send({ seconds: 40 }, (arrivals) =>
      arrivals.map(({ at, packet }) => jump(0, Math.floor(at / 2000) * 7)([{ at, packet }])[0] as Arrival),
    );
    expect(rig.unstable).toEqual([]);
    expect(rig.stretches.length).toBeGreaterThan(11);
  });

  test("do not count fifteen reconnects within a minute as changes of the source", () => {
    const rig = new TimelineRig();
    for (let times = 0; times < 15; times++) {
      if (times % 2 === 0) rig.timeline.publisher();
      else rig.timeline.pause();
      rig.send({ seconds: 2 });
    }
    expect(rig.unstable).toEqual([]);
    expect(rig.stretches).toHaveLength(15);
    expect(rig.timeline.position.discontinuitySequence).toBe(0);
  });
});

describe("program date time", () => {
  test("is the arrival of the first packet plus media time, the same in all renditions", () => {
    const rig = new TimelineRig();
    const begin = rig.clock.now();
    rig.send({ seconds: 9 });
    expect(rig.cuts.map(({ programDateTimeMs }) => programDateTimeMs - begin)).toEqual([0, 2000, 4000, 6000, 8000]);
  });

  test("ignores a step of the wall clock", () => {
    const rig = new TimelineRig();
    const begin = rig.clock.now();
    rig.send({ seconds: 3 });
    rig.clock.stepWall(3_600_000);
    rig.play(
      jump(
        0,
        3,
      )(
        [0, 1, 2].map((second) => ({
          at: second * 1000,
          packet: {
            trackId: 0,
            kind: "video",
            dts: second * SECOND,
            pts: second * SECOND,
            isIndependent: true,
            data: new Payload(new Uint8Array(1)),
          },
        })),
      ),
    );
    expect((rig.cuts.at(-1)?.programDateTimeMs ?? 0) - begin).toBeLessThan(10_000);
  });

  test("steps by the duration of each segment although keyframes arrive up to 90 ms early or late", () => {
    const rig = new TimelineRig();
    const late = (at: number) => Math.max(0, at + 90 * Math.sin(at));
    rig.send({ seconds: 20, frameRate: 30000 / 1001 }, (arrivals) =>
      arrivals.map(({ at, packet }) => ({ at: late(at), packet })).sort((a, b) => a.at - b.at),
    );
    const [first] = rig.cuts;
    for (const { ticks, programDateTimeMs } of rig.cuts)
      expect(programDateTimeMs - (first?.programDateTimeMs ?? 0)).toBe(Math.round((ticks - (first?.ticks ?? 0)) / 90));
  });

  test("follows a slow source by at most 5 ms per segment, beyond 100 ms", () => {
    const rig = new TimelineRig();
    rig.send({ seconds: 30 }, (arrivals) => arrivals.map(({ at, packet }) => ({ at: at * 1.01, packet })));
    const steps = rig.cuts
      .slice(1)
      .map((cut, index) => cut.programDateTimeMs - (rig.cuts[index]?.programDateTimeMs ?? 0) - 2000);
    expect(steps.every((step) => step >= 0 && step <= 5)).toBe(true);
    expect(steps.some((step) => step === 5)).toBe(true);
  });
});

describe("stalls", () => {
  test("the last frame waits two frame intervals for the next, then gets the previous frame's duration", () => {
    const rig = new TimelineRig();
    rig.send({ seconds: 1, audio: false });
    expect(rig.of("video").length).toBe(29);
    rig.wait(100);
    expect(rig.of("video").length).toBe(30);
    expect(rig.of("video").at(-1)?.duration).toBe(3000);
  });
});

describe("a clock that stands still", () => {
  /** From `second` on, packets of this kind keep arriving with constant timestamps. */
  const stuck = (second: number, kind?: "video" | "audio") => (arrivals: Arrival[]) =>
    arrivals.map(({ at, packet }) => {
      const isStuck = at >= second * 1000 && (kind === undefined || packet.kind === kind);
      return { at, packet: isStuck ? { ...packet, dts: second * SECOND, pts: second * SECOND } : packet };
    });

  test.each([
    ["in both tracks", {}, undefined],
    ["in video, with audio going on", {}, "video"],
    ["where there is no audio", { audio: false }, undefined],
    ["where there is no video", { video: false }, undefined],
  ] as const)("%s is refused after 5 s with a message", (_, shape, kind) => {
    const after = (seconds: number): string[] => {
      const rig = new TimelineRig();
      rig.send({ seconds, ...shape }, stuck(2, kind));
      return rig.unstable;
    };
    expect(after(6.9)).toEqual([]);
    expect(after(7.3)).toEqual([expect.stringMatching(/timestamps stand still/)]);
  });

  test("in audio only is not refused: silence accompanies the video", () => {
    const rig = new TimelineRig();
    rig.send({ seconds: 20 }, stuck(2, "audio"));
    expect(rig.unstable).toEqual([]);
    expect(rig.corrections.silentFrames).toBeGreaterThan(500);
  });

  test.each([
    ["a network that lets a frame through every second", { frameRate: 30, every: 30 }],
    ["one frame a second", { frameRate: 1, every: 1 }],
  ])("is not detected in %s", (_, { frameRate, every }) => {
    const rig = new TimelineRig();
    rig.send({ seconds: 20, frameRate, gopSeconds: 1 / frameRate, audio: false }, (arrivals) =>
      arrivals.map(({ at, packet }) => ({ at: at * every, packet })),
    );
    expect(rig.unstable).toEqual([]);
  });

  test("for three seconds only is accepted", () => {
    const rig = new TimelineRig();
    rig.send({ seconds: 20 }, (arrivals) =>
      arrivals.map(({ at, packet }) => {
        const ticks = at < 2000 ? 0 : Math.min(at - 2000, 3000) * 90;
        return { at, packet: { ...packet, dts: packet.dts - ticks, pts: packet.pts - ticks } };
      }),
    );
    expect(rig.unstable).toEqual([]);
  });
});

test("audio far ahead of the video is refused, and the audio that waits for video is bounded", () => {
  const rig = new TimelineRig();
  // Video advances at a fifth of real time; the audio's clock is correct.
  rig.send({ seconds: 90 }, (arrivals) =>
    arrivals.map(({ at, packet }) => ({
      at,
      packet: packet.kind === "audio" ? packet : { ...packet, dts: packet.dts / 5, pts: packet.pts / 5 },
    })),
  );
  expect(rig.unstable[0]).toMatch(/video is far behind its audio/);
  const audioUntil = (rig.of("audio").at(-1)?.time ?? 0) / 48_000;
  expect(90 - audioUntil).toBeLessThan(2000 * (1024 / 48_000) + 1);
});

describe("pictures that come late", () => {
  test("begin a stretch although their first keyframe came more than four seconds after the sound", () => {
    const rig = new TimelineRig();
    rig.send({ seconds: 20, gopSeconds: 10 }, (arrivals) =>
      arrivals.flatMap(({ at, packet }) => (at >= 5000 ? { at: at - 5000, packet } : [])),
    );
    expect(rig.stretches.map((tracks) => tracks.map(({ kind }) => kind))).toEqual([["audio"], ["video", "audio"]]);
    expect(rig.of("video").length).toBeGreaterThan(250);
    expect(rig.of("video")[0]?.isIndependent).toBe(true);
  });

  /** The pictures after the fourth second come so many milliseconds late. */
  const late = (lateMs: (at: number) => number) => (arrivals: Arrival[]) =>
    arrivals
      .map(({ at, packet }) => ({ at: packet.kind === "video" && at >= 4000 ? at + lateMs(at) : at, packet }))
      .toSorted((a, b) => a.at - b.at);

  test("after the video was lost are shown once they have caught up with the sound: cuts never go back", () => {
    const rig = new TimelineRig();
    rig.send(
      { seconds: 16 },
      late((at) => Math.max(0, 6_500 - (at - 4000))),
    );
    expect(rig.cuts.map(({ ticks }) => ticks)).toEqual(rig.cuts.map(({ ticks }) => ticks).toSorted((a, b) => a - b));
    const times = rig.cuts.map(({ programDateTimeMs }) => programDateTimeMs);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(rig.cuts.at(-1)).toMatchObject({ byVideo: true });
    expect(rig.unstable).toEqual([]);
  });

  test("and never catch up with the sound are refused, with a reason", () => {
    const rig = new TimelineRig();
    rig.send(
      { seconds: 20 },
      late(() => 6_500),
    );
    expect(rig.cuts.map(({ ticks }) => ticks)).toEqual(rig.cuts.map(({ ticks }) => ticks).toSorted((a, b) => a - b));
    expect(rig.unstable[0]).toMatch(/video is far behind its audio/);
  });
});

test("a track that steps to where the clock of another is begins a stretch, where their clocks were unrelated", () => {
  const rig = new TimelineRig();
  const apart = (seconds: (at: number) => number) => (arrivals: Arrival[]) =>
    arrivals.map(({ at, packet }) => {
      const ticks = packet.kind === "audio" ? seconds(at) * SECOND : 0;
      return { at, packet: { ...packet, dts: packet.dts + ticks, pts: packet.pts + ticks } };
    });
  // The sound is 70 s ahead of the pictures by its timestamps, until the encoder puts that right.
  rig.send({ seconds: 14, clockAt: 100 }, (arrivals) => apart((at) => (at < 6000 ? 70 : 0))(arrivals));
  rig.wait(1_000);
  // The second as soon as the sound came, whose clock is another.
  expect(rig.stretches).toHaveLength(3);
  expect(rig.corrections.droppedFrames).toBeLessThan(100);
  const seconds = rig.cutSeconds;
  for (const [nth, second] of seconds.entries()) expect(second - (seconds[nth - 1] ?? second)).toBeLessThan(3);
  expect(rig.timeline.position.endTicks / SECOND).toBeLessThan(17);
});
