import { describe, expect, test } from "vitest";
import type { SessionSound } from "../../ports/index.ts";
import type { AudioTrack, Payload, Track } from "../packet.ts";
import {
  type Arrival,
  AUDIO,
  SECOND_AUDIO,
  syntheticSource,
  VIDEO,
  withSecondAudio,
} from "../testing/synthetic-source.ts";
import { TimelineRig } from "../testing/timeline-rig.ts";
import type { Sample } from "./timeline-sink.ts";

const SECOND = 90_000;
const STEREO: SessionSound = { codec: "aac", config: "1190" };
const MONO: AudioTrack = { ...AUDIO, config: Uint8Array.of(0x11, 0x88), channels: 1 };
/** Frames of the synthetic source have this many bytes; silent ones do not. */
const FRAME_BYTES = 10;

const isSilent = ({ data }: Sample) => data.byteLength !== FRAME_BYTES;
const silent = (rig: TimelineRig) => rig.of("audio").filter(isSilent);
const secondsOf = (samples: readonly Sample[]) => samples.length * (1024 / 48_000);
const discontinuities = (rig: TimelineRig) => rig.cuts.filter(({ discontinuity }) => discontinuity).length;

/** No hole and no overlap from the first to the last frame, which ends where the pictures do. */
function expectWhole(rig: TimelineRig): void {
  const audio = rig.of("audio");
  for (const [index, sample] of audio.entries()) {
    const before = audio[index - 1];
    if (before) expect(sample.time).toBe(before.time + before.duration);
  }
  const last = audio.at(-1);
  const picture = rig.of("video").at(-1);
  expect(Math.abs((last?.time ?? 0) / 48_000 - (picture?.time ?? 0) / SECOND)).toBeLessThan(0.1);
}

function reconnect(rig: TimelineRig, seconds: number, tracks: readonly Track[], change = (same: Arrival[]) => same) {
  rig.timeline.pause();
  rig.wait(3000);
  takeOver(rig, seconds, tracks, change);
}

function takeOver(rig: TimelineRig, seconds: number, tracks: readonly Track[], change = (same: Arrival[]) => same) {
  rig.timeline.publisher();
  for (const track of tracks) rig.timeline.track(track);
  const audio = tracks.some(({ kind }) => kind === "audio");
  rig.play(change(syntheticSource({ seconds, clockAt: 1000, audio })));
}

describe("a source that loses its audio", () => {
  test("by a reconnect goes on with silence, without a discontinuity, and gets its sound back in the same track", () => {
    const rig = new TimelineRig();
    rig.send({ seconds: 4 });
    reconnect(rig, 20, [VIDEO]);
    reconnect(rig, 4, [VIDEO, AUDIO]);
    expect(rig.stretches).toEqual([
      [VIDEO, AUDIO],
      [VIDEO, AUDIO],
      [VIDEO, AUDIO],
    ]);
    expect(discontinuities(rig)).toBe(0);
    expect(secondsOf(silent(rig))).toBeCloseTo(20, 0);
    expectWhole(rig);
  });

  test("by a takeover goes on with silence, without a discontinuity, and gets its sound back by another one", () => {
    const rig = new TimelineRig();
    rig.send({ seconds: 3 });
    takeOver(rig, 7, [VIDEO]);
    takeOver(rig, 3, [VIDEO, AUDIO]);
    expect(discontinuities(rig)).toBe(0);
    expect(secondsOf(silent(rig))).toBeCloseTo(7, 0);
    expectWhole(rig);
  });

  test("in a burst has silence in every segment of it", () => {
    const rig = new TimelineRig();
    rig.send({ seconds: 4 });
    reconnect(rig, 9, [VIDEO], (arrivals) => arrivals.map(({ packet }) => ({ at: 400, packet })));
    const cuts = rig.cutSeconds.slice(-3);
    for (const [index, from] of cuts.entries()) {
      const to = cuts[index + 1] ?? from + 0.5;
      const frames = rig.of("audio").filter(({ time }) => time / 48_000 >= from && time / 48_000 < to);
      expect(frames.length, `from ${from} to ${to} s`).toBeGreaterThan(20);
    }
    expectWhole(rig);
  });

  test("without a reconnect has silence up to the newest picture, and its sound comes back in step", () => {
    const rig = new TimelineRig();
    rig.send({ seconds: 12 }, (arrivals) =>
      arrivals
        .filter(({ at, packet }) => packet.kind === "video" || at < 3000 || at >= 9000)
        // As an encoder interleaves it: sound comes 100 ms behind the picture.
        .map(({ at, packet }) => ({ at: packet.kind === "audio" ? at + 100 : at, packet }))
        .sort((a, b) => a.at - b.at),
    );
    expectWhole(rig);
    expect(secondsOf(silent(rig))).toBeGreaterThan(5.9);
    expect(secondsOf(silent(rig))).toBeLessThan(6.2);
    // Each real frame stands where its own time says.
    const returned = rig.of("audio").filter((sample) => !isSilent(sample) && sample.time > 9 * 48_000);
    expect(returned.length).toBeGreaterThan(130);
    for (const { time } of returned) expect(Math.abs((time / 1024) % 1)).toBeCloseTo(0, 1);
  });

  test("and gets it back every second has no hole", () => {
    const rig = new TimelineRig();
    rig.send({ seconds: 19 }, (arrivals) =>
      arrivals.filter(({ at, packet }) => packet.kind === "video" || Math.floor(at / 1000) % 2 === 0),
    );
    expect(rig.stretches).toHaveLength(1);
    expect(secondsOf(silent(rig))).toBeCloseTo(9, 0);
    expectWhole(rig);
  });

  test("and comes back with another configuration has one discontinuity, at a keyframe", () => {
    const rig = new TimelineRig();
    rig.send({ seconds: 4 });
    reconnect(rig, 4, [VIDEO]);
    reconnect(rig, 4, [VIDEO, MONO]);
    expect(rig.stretches.at(-1)).toEqual([VIDEO, MONO]);
    expect(discontinuities(rig)).toBe(1);
    expectWhole(rig);
  });

  test("with its pictures is away, not silent for ever", () => {
    const rig = new TimelineRig();
    rig.send({ seconds: 3, video: false });
    const frames = rig.of("audio").length;
    rig.wait(60_000);
    expect(rig.of("audio")).toHaveLength(frames);
    expect(silent(rig)).toEqual([]);
  });

  test("in two codecs has silence in both, until one source sends both again", () => {
    const rig = new TimelineRig();
    rig.timeline.track(SECOND_AUDIO);
    rig.send({ seconds: 3 }, withSecondAudio);
    reconnect(rig, 4, [VIDEO]);
    expect(rig.stretches.at(-1)).toEqual([VIDEO, AUDIO, SECOND_AUDIO]);
    // One of both alone is another source: silence in the other would be heard instead.
    reconnect(rig, 4, [VIDEO, AUDIO]);
    expect(rig.stretches.at(-1)).toEqual([VIDEO, AUDIO]);
  });

  test("does not count as a lost video when nothing comes at all", () => {
    const rig = new TimelineRig(null, null, STEREO);
    rig.send({ seconds: 3, audio: false });
    const cuts = rig.cuts.length;
    rig.wait(10_000);
    expect(rig.cuts).toHaveLength(cuts);
    expect(rig.unstable).toEqual([]);
  });
});

describe("a stream whose last session had sound", () => {
  test("has silence from the start, and its sound when it comes late, without a new stretch", () => {
    const rig = new TimelineRig(null, null, STEREO);
    rig.timeline.track(VIDEO);
    rig.play(syntheticSource({ seconds: 5, audio: false }));
    expect(rig.stretches).toEqual([[VIDEO, AUDIO]]);
    expect(rig.timeline.position.sound).toBeNull();
    rig.timeline.track(AUDIO);
    rig.play(
      syntheticSource({ seconds: 9 })
        .filter(({ at }) => at >= 5000)
        .map(({ at, packet }) => ({ at: at - 5000, packet })),
    );
    expect(rig.stretches).toHaveLength(1);
    expect(secondsOf(silent(rig))).toBeCloseTo(5, 0);
    expect(rig.timeline.position.sound).toEqual(STEREO);
    expectWhole(rig);
  });

  test("whose sound comes late with another configuration has a discontinuity", () => {
    const rig = new TimelineRig(null, null, STEREO);
    rig.timeline.track(VIDEO);
    rig.play(syntheticSource({ seconds: 5, audio: false }));
    rig.timeline.track(MONO);
    rig.play(
      syntheticSource({ seconds: 9 })
        .filter(({ at }) => at >= 5000)
        .map(({ at, packet }) => ({ at: at - 5000, packet })),
    );
    expect(rig.stretches.at(-1)).toEqual([VIDEO, MONO]);
    expect(discontinuities(rig)).toBe(1);
  });

  test.each([
    ["HE-AAC", { codec: "aac", config: "2b118800" } as const, { codecString: "mp4a.40.5", sampleRate: 24_000 }],
    ["Opus", { codec: "opus", config: "00020138" + "0000bb80000000" } as const, { codecString: "opus", channels: 2 }],
  ])("in %s has silence with the same configuration", (_, sound, expected) => {
    const rig = new TimelineRig(null, null, sound);
    rig.send({ seconds: 4, audio: false });
    const track = rig.stretches[0]?.[1];
    expect(track).toMatchObject(expected);
    expect(Buffer.from(track?.config ?? []).toString("hex")).toBe(sound.config);
    const audio = rig.of("audio");
    expect(audio.length * (audio[0]?.duration ?? 0)).toBeGreaterThan(
      3.8 * (track?.kind === "audio" ? track.sampleRate : 0),
    );
  });

  test("in a configuration that cannot be read has none", () => {
    const rig = new TimelineRig(null, null, { codec: "aac", config: "ff" });
    rig.send({ seconds: 3, audio: false });
    expect(rig.stretches).toEqual([[VIDEO]]);
  });
});

test("all silent frames of a track share one payload", () => {
  const rig = new TimelineRig(null, null, STEREO);
  rig.send({ seconds: 20, audio: false });
  const payloads = new Set<Payload>(silent(rig).map(({ data }) => data));
  expect(silent(rig).length).toBeGreaterThan(900);
  expect(payloads.size).toBe(1);
});

test("sound that comes first after a reconnect adds a track, and the pictures go on without a discontinuity", () => {
  const rig = new TimelineRig();
  rig.send({ seconds: 4, audio: false });
  reconnect(rig, 4, [VIDEO, AUDIO]);
  expect(rig.stretches).toEqual([[VIDEO], [VIDEO, AUDIO]]);
  expect(discontinuities(rig)).toBe(0);
});
