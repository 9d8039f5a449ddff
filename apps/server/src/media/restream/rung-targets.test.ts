import { ChunkReader, MESSAGE } from "@weir/formats/rtmp";
import { expect, test } from "vitest";
import type { LadderProfile } from "../../ports/index.ts";
import { TranscodeAdmission } from "../ladder/transcode-admission.ts";
import { roomForLadders } from "../testing/fake-gates.ts";
import { RestreamRig, TARGET } from "./restream-test-rig.ts";

/** The source is 640x360. */
const SMALL: LadderProfile = { name: "180p0", width: 320, height: 180, bitrate: 200_000, fps: 0 };
const LARGE: LadderProfile = { name: "720p0", width: 1280, height: 720, bitrate: 3_000_000, fps: 0 };

/** A message with a frame of the source's sound; a silent one is shorter. */
const SOUND_BYTES = 12;

function withLadder(forTargets: readonly string[], isDefault = true) {
  const admission = roomForLadders();
  const ladder = { profiles: [LARGE, SMALL], isDefault, forTargets: new Set(forTargets), admission };
  return { admission, rig: new RestreamRig({ ladder }) };
}

/** The media received by the newest target, in order: `v` or `a`, milliseconds, and whether it is silence. */
function arrivedAt(rig: RestreamRig): [kind: "v" | "a", ms: number, isSilence: boolean][] {
  const arrived: [kind: "v" | "a", ms: number, isSilence: boolean][] = [];
  const reader = new ChunkReader((typeId, time, _stream, payload) => {
    const isFrame = payload[1] === 1;
    if (!isFrame || typeId === MESSAGE.dataAmf0) return;
    const kind = typeId === MESSAGE.video ? "v" : "a";
    arrived.push([kind, time, kind === "a" && payload.length < SOUND_BYTES]);
  });
  reader.setChunkSize(4096);
  for (const bytes of rig.newest.written) reader.push(bytes);
  return arrived;
}

test("a target gets a rung's video with the source's audio, ordered by time, even after a reconnect", async () => {
  const { rig } = withLadder([]);
  rig.targets.set([{ ...TARGET, profile: "180p0" }]);
  await rig.send({ seconds: 1 });
  rig.newest.accept();
  await rig.send({ seconds: 4, clockAt: 1 });
  expect(rig.state).toBe("online");
  rig.timeline.pause();
  rig.pass(10_000);
  await rig.send({ seconds: 4, clockAt: 50 });
  const arrived = arrivedAt(rig);
  const [video, audio] = (["v", "a"] as const).map((kind) => arrived.flatMap(([of, ms]) => (of === kind ? [ms] : [])));
  expect(video?.length).toBeGreaterThan(200);
  expect(audio?.length).toBeGreaterThan(300);
  for (const times of [video ?? [], audio ?? []])
    expect(
      times.every((ms, index) => index === 0 || (ms > (times[index - 1] ?? 0) && ms - (times[index - 1] ?? 0) < 200)),
    ).toBe(true);
  // Audio never arrives after video of a later time, so a receiving muxer need not wait.
  expect(arrived.every(([, ms], index) => index === 0 || ms >= (arrived[index - 1]?.[1] ?? 0) - 45)).toBe(true);
});

test.each(["source", "180p0"])(
  "a target of the rendition %s gets silence while the source has no sound, then its sound again",
  async (profile) => {
    const { rig } = withLadder([]);
    rig.targets.set([{ ...TARGET, profile }]);
    await rig.send({ seconds: 1 });
    rig.newest.accept();
    await rig.send({ seconds: 3, clockAt: 1 });
    await rig.send({ seconds: 6, clockAt: 50, audio: false });
    rig.timeline.pause();
    rig.pass(3_000);
    await rig.send({ seconds: 3, clockAt: 90 });
    rig.pass(100);
    const arrived = arrivedAt(rig);
    for (const of of ["v", "a"]) {
      const times = arrived.flatMap(([kind, ms]) => (kind === of ? [ms] : []));
      const steps = times.slice(1).map((ms, index) => ms - (times[index] ?? 0));
      expect(Math.min(...steps)).toBeGreaterThan(0);
      // Where the source comes back, its last picture lasted until the end of the silence.
      expect(Math.max(...steps)).toBeLessThanOrEqual(of === "v" ? 60 : 25);
      expect(times.at(-1)).toBeGreaterThan(12_800);
    }
    const silent = arrived.flatMap(([, ms, isSilence]) => (isSilence ? [ms] : []));
    expect(Math.abs((silent.length * 1024) / 48_000 - 6)).toBeLessThan(0.1);
    expect([silent[0], silent.at(-1)].map((ms) => Math.round((ms ?? 0) / 1000))).toEqual([4, 10]);
    expect(rig.outputs.renditions.flatMap(({ listed }) => listed.filter(({ init }) => !init))).toEqual([]);
  },
);

test("a rung only for a target is encoded and counted, but not listed for viewers", async () => {
  const without = withLadder([]);
  await without.rig.send({ seconds: 1 });
  const { rig, admission } = withLadder(["720p0"]);
  rig.targets.set([{ ...TARGET, profile: "720p0" }]);
  rig.newest.accept();
  await rig.send({ seconds: 6 });
  expect(rig.state).toBe("online");
  const listed = (of: RestreamRig) => of.outputs.listed.map(({ rendition }) => rendition.name);
  expect(listed(rig)).toHaveLength(listed(without.rig).length);
  expect(admission.budget.usedCores).toBeGreaterThan(without.admission.budget.usedCores + 0.4);
});

test("a rung of a refused ladder cannot be sent", async () => {
  const admission = new TranscodeAdmission({ cores: 0, freeBytes: () => 1e12 });
  const ladder = { profiles: [SMALL], isDefault: false, forTargets: new Set<string>(), admission };
  const rig = new RestreamRig({ ladder });
  rig.targets.set([{ ...TARGET, profile: "180p0" }]);
  await rig.send({ seconds: 1 });
  rig.newest.accept();
  expect(rig.targets.reports).toMatchObject([
    { reason: 'The rendition "180p0" is not being made, so there is nothing to send.' },
  ]);
});
