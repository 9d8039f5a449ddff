import { beforeEach, describe, expect, test } from "vitest";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import type { LadderProfile } from "../../ports/index.ts";
import { PageMemory } from "../page-memory.ts";
import type { SessionOutputs } from "../session-outputs.ts";
import { openTimeline } from "../session-timeline.ts";
import { FakeChildren } from "../testing/fake-transcoder.ts";
import { type Arrival, AUDIO, type SourceShape, syntheticSource, VIDEO } from "../testing/synthetic-source.ts";
import { play } from "../testing/timeline-rig.ts";
import { warningLog } from "../testing/warning-log.ts";
import type { Timeline } from "../timeline/timeline.ts";
import type { TranscodedSegment } from "./live-ladder.ts";
import { TranscodeAdmission } from "./transcode-admission.ts";

const PROFILES: LadderProfile[] = [
  { name: "240p0", width: 426, height: 240, bitrate: 250_000, fps: 0 },
  { name: "180p0", width: 320, height: 180, bitrate: 150_000, fps: 0 },
];

let clock: ManualClock;
let children: FakeChildren;
let segments: TranscodedSegment[];
/** The fields of each. */
let warnings: unknown[];
/** Records the segments that a recorder of rungs receives. */
let recorded: string[];
let admission: TranscodeAdmission;
let timeline: Timeline;
let outputs: SessionOutputs;

function open(profiles: readonly LadderProfile[] = PROFILES, kept = profiles, hasSlate = false): void {
  ({ timeline, outputs } = openTimeline({
    clock,
    memory: new PageMemory(),
    resume: null,
    lastTargetDuration: null,
    lastSound: null,
    hasSlate,
    onSegment: () => {},
    onUnstable: () => {},
    ladder: {
      log: warningLog(warnings),
      admission,
      children,
      encoding: { preset: "superfast", encoder: "libx264" },
      profiles,
      isDefault: false,
      forTargets: new Set(),
      recorded: new Set(kept.map(({ name }) => name)),
      onSegment: (segment) => segments.push(segment),
      onRungs: (closed) =>
        recorded.push(...closed.map(({ rendition: { name }, segment: { msn } }) => `${name}/${msn}`)),
    },
  }));
}

beforeEach(() => {
  clock = new ManualClock();
  children = new FakeChildren();
  segments = [];
  warnings = [];
  recorded = [];
  admission = new TranscodeAdmission({ cores: 2, freeBytes: () => 1e12 });
  open();
});

function send(
  shape: SourceShape,
  change: (arrivals: Arrival[]) => Arrival[] = (same) => same,
  at: [number, () => void][] = [],
): void {
  timeline.track(VIDEO);
  timeline.track(AUDIO);
  const todo = [...at];
  play(
    clock,
    change(syntheticSource(shape)),
    ({ at: now, packet }) => {
      while (todo[0] && now >= todo[0][0] * 1000) todo.shift()?.[1]();
      timeline.packet(packet);
    },
    () => timeline.tick(),
  );
}

const rendition = (name: string) => outputs.renditions.find((candidate) => candidate.name === name);
const listed = (name: string) =>
  rendition(name)?.listed.map(
    ({ msn, init, durationTicks }) => `${msn}${init ? "" : " gap"} ${durationTicks / 90_000}`,
  );
const names = () => outputs.listed.map(({ rendition: { name } }) => name);

test("the recorder gets each segment once it is closed in every rung, the last one after the end", async () => {
  send({ seconds: 6 });
  timeline.end();
  await outputs.ladder?.ended;
  const msns = rendition("v0")?.listed.map(({ msn }) => msn) ?? [];
  expect(recorded.toSorted()).toEqual(["v0", "v1"].flatMap((name) => msns.map((msn) => `${name}/${msn}`)));
});

test("the recorder gets only the rungs that the recording keeps", async () => {
  open(PROFILES, PROFILES.slice(1));
  send({ seconds: 6 });
  timeline.end();
  await outputs.ladder?.ended;
  // Rungs are numbered from the largest.
  expect(new Set(recorded.map((file) => file.split("/")[0]))).toEqual(new Set(["v1"]));
});

describe("while the source is away, with a slate", () => {
  const pass = (ms: number) => {
    for (let passed = 0; passed < ms; passed += 50) {
      clock.advance(50);
      timeline.tick();
    }
  };
  const slates = (name: string) =>
    rendition(name)?.listed.flatMap(({ msn, isSlate, init }) => (isSlate && init ? msn : []));

  test("each rung shows its own last picture at the same numbers, and the transcoder gets none of it", () => {
    open(PROFILES, PROFILES, true);
    send({ seconds: 6 });
    const { length } = segments;
    timeline.pause();
    pass(6_000);
    expect(slates("source")?.length).toBeGreaterThan(1);
    expect([slates("v0"), slates("v1")]).toEqual([slates("source"), slates("source")]);
    timeline.publisher();
    send({ seconds: 6, clockAt: 50 });
    expect(listed("v0")?.slice(0, -1)).toEqual(listed("source")?.slice(0, -1));
    expect(rendition("v0")?.listed.some(({ discontinuity }) => discontinuity)).toBe(false);
    expect(segments.length - length).toBeLessThanOrEqual(4);
    expect(segments.every(({ isMade }) => isMade)).toBe(true);
    expect(children.taken).toHaveLength(1);
  });

  test("a rung that is paused has gaps, and the others their pictures", () => {
    open(PROFILES, PROFILES, true);
    machineFor(1);
    send({ seconds: 34 });
    expect(states()).toEqual(["off", "running"]);
    timeline.pause();
    pass(6_000);
    expect(slates("v1")).toEqual(slates("source"));
    expect(slates("v0")).toEqual([]);
    expect(listed("v0")?.slice(-3).join()).toMatch(/^(\d+ gap [\d.]+,?){3}$/);
  });
});

/** A machine that makes so many rungs, in so many times real time. */
const machineFor = (rungs: number, speed = 0.2) => {
  children.machine = { clock, costMs: (made) => 1000 / 30 / (made > rungs ? speed : 4) };
};
const states = () => outputs.ladder?.report.renditions.map(({ state }) => state);
const at = (second: number, what: () => void): [number, () => void] => [second, what];

describe("a machine that is too slow", () => {
  test("for one of two rungs pauses the larger one, with a reason, and the other goes on in time", () => {
    machineFor(1);
    send({ seconds: 34 });
    expect(children.taken).toHaveLength(2);
    expect(states()).toEqual(["off", "running"]);
    expect(listed("v0")?.slice(-5).join()).toMatch(/^(\d+ gap 2,?){5}$/);
    expect(listed("v1")?.slice(-5)).toEqual(listed("source")?.slice(-5));
    expect(segments.at(-1)).toMatchObject({ isMade: true, missing: ["240p0"], paused: ["240p0"], missed: "late" });
    expect(segments.at(-1)?.attempts[0]?.error).toMatch(/^240p0 is paused/);
    expect(warnings).toContainEqual({ renditions: ["240p0"] });
  });

  test("for a while has all rungs back within 90 s, one at a time, and none is lost twice", () => {
    machineFor(0);
    let all: number | null = null;
    const look = Array.from({ length: 120 }, (_, second) =>
      at(200 + second, () => {
        if (states()?.every((state) => state === "running")) all ??= second;
      }),
    );
    send({ seconds: 320 }, undefined, [
      at(100, () => expect(names()).toEqual(["source", "audio"])),
      at(100, () => expect(outputs.ladder?.report).toMatchObject({ state: "source-only", cause: "too-slow" })),
      at(200, () => machineFor(2)),
      ...look,
    ]);
    expect(all).toBeLessThan(90);
    expect(segments.at(-1)).toMatchObject({ missing: [], isSteady: true });
    expect(outputs.ladder?.report).toMatchObject({ state: "running" });
    expect(outputs.ladder?.report.isRecovering).toBe(undefined);
    expect(listed("v0")?.slice(-4)).toEqual(listed("source")?.slice(-4));
    expect(listed("source")?.join()).not.toContain("gap");
  });

  test("with a ladder of one rung pauses it, and makes it again", () => {
    open(PROFILES.slice(1));
    machineFor(0);
    send({ seconds: 160 }, undefined, [
      at(60, () => expect(names()).toEqual(["source", "audio"])),
      at(100, () => machineFor(1)),
    ]);
    expect(states()).toEqual(["running"]);
    expect(listed("v0")?.slice(-4)).toEqual(listed("source")?.slice(-4));
  });

  test("for ever makes few children, and its viewers are not offered the rungs that are tried", () => {
    machineFor(0);
    const offered: string[] = [];
    const look = Array.from({ length: 530 }, (_, second) => at(70 + second, () => offered.push(names().join())));
    send({ seconds: 600 }, undefined, look);
    // One every 30 s, and each is tried for some seconds.
    expect(children.taken.length).toBeGreaterThan(8);
    expect(children.taken.length).toBeLessThan(22);
    expect(new Set(offered)).toEqual(new Set(["source,audio"]));
    expect(segments.every(({ attempts }) => attempts.length === 1)).toBe(true);
  });

  test("for two rungs, and just fast enough for one, never tries the second", () => {
    children.machine = { clock, costMs: (made) => (1000 / 30) * (made === 2 ? 1.4 : 0.75) };
    send({ seconds: 300 });
    expect(children.taken).toHaveLength(2);
    const paused = segments.findIndex((segment) => segment.paused.length > 0);
    expect(segments.slice(paused + 3).every(({ missing }) => missing.join() === "240p0")).toBe(true);
  });

  test("when its session ends with a rung away, ends it as any other", async () => {
    machineFor(1);
    send({ seconds: 40 });
    expect(states()).toEqual(["off", "running"]);
    timeline.end();
    clock.advance(1500);
    await outputs.ladder?.ended;
    expect([rendition("v0")?.hasEnded, rendition("v1")?.hasEnded]).toEqual([true, true]);
    expect(children.taken.every(({ isKilled }) => isKilled)).toBe(true);
    expect(recorded.filter((file) => file.startsWith("v0")).length).toBe(segments.length);
  });

  test("goes on with the rungs that it makes after its source was away", () => {
    machineFor(1);
    send({ seconds: 24 });
    timeline.pause();
    clock.advance(3000);
    timeline.publisher();
    send({ seconds: 8, clockAt: 24 });
    expect(states()).toEqual(["off", "running"]);
    expect(segments.at(-1)).toMatchObject({ isMade: true, missing: ["240p0"] });
  });
});

test("a transcoder that does not take what it is sent gets nothing up to the next keyframe; the log says so at once, and the number of pictures at the end", () => {
  const setBacklog = (bytes: number) => () => {
    children.current.backlogBytes = bytes;
  };
  send({ seconds: 8 }, undefined, [
    [2.5, setBacklog(1e9)],
    [4.5, setBacklog(0)],
  ]);
  const atOnce = { lagMs: 0, child: children.current.pid };
  expect(warnings).toEqual([atOnce]);
  timeline.end();
  // Those of 3.5 s, and the one that waited for its duration.
  expect(warnings).toEqual([atOnce, { reader: "ladder", dropped: 106 }]);
});

describe("rungs", () => {
  test("have exactly the source's segments, and are listed from the first picture on", () => {
    send({ seconds: 0.1 });
    expect(names()).toEqual(["source", "audio", "v0", "v1"]);
    open();
    send({ seconds: 9, gopSeconds: 1.5 });
    expect(listed("v0")).toEqual(listed("source"));
    expect(listed("v1")).toEqual(listed("source"));
    expect(rendition("v0")?.listed.every(({ parts }) => parts[0]?.isIndependent)).toBe(true);
    expect(segments.map(({ msn, missing }) => [msn, missing.length === 0])).toEqual([
      [1, true],
      [2, true],
      [3, true],
      [4, true],
      [5, true],
    ]);
    expect(segments[0]?.attempts).toMatchObject([{ error: null }]);
  });

  test("do not exist without profiles", () => {
    open([]);
    send({ seconds: 3 });
    expect(names()).toEqual(["source", "audio"]);
    expect(children.taken).toEqual([]);
  });

  test("are complete after a clean stop", () => {
    send({ seconds: 3 });
    timeline.end();
    expect(listed("v0")).toEqual(listed("source"));
    expect(rendition("v0")?.hasEnded).toBe(true);
    expect(children.current.isKilled).toBe(true);
  });

  test("continue in the same child after a jump of the source's clock", () => {
    send({ seconds: 9 }, (arrivals) =>
      arrivals.map(({ at, packet }) => {
        const ticks = at >= 4000 ? 500 * 90_000 : 0;
        return { at, packet: { ...packet, dts: packet.dts + ticks, pts: packet.pts + ticks } };
      }),
    );
    expect(children.taken.length).toBe(1);
    expect(rendition("v0")?.listed.some(({ discontinuity }) => discontinuity)).toBe(false);
    expect(listed("v0")).toEqual(listed("source"));
  });
});

describe("a child that dies", () => {
  test("is replaced by one that continues with the first missing picture", () => {
    send({ seconds: 7 }, undefined, [[4.5, () => children.current.die()]]);
    expect(children.taken.length).toBe(2);
    expect(children.current.skippedUntil).toBeGreaterThan(4.3 * 90_000);
    expect(listed("v0")).toEqual(listed("source"));
    const attempts = [{ error: "killed" }, { error: null }];
    expect(segments.at(2)).toMatchObject({ msn: 3, isMade: true, missed: null, attempts });
  });

  test("three times at one segment leaves only the source, with a reason, and is retried after 10 s", () => {
    const die = () => children.current.die("out of memory");
    send({ seconds: 8 }, undefined, [
      [4.2, die],
      [4.3, die],
      [4.9, die],
    ]);
    expect(names()).toEqual(["source", "audio"]);
    expect(segments.at(2)).toMatchObject({ msn: 3, isMade: false, missed: "source-only" });
    expect(outputs.ladder?.report).toMatchObject({ state: "source-only", cause: "transcoder-failed" });
    expect(segments.at(2)?.attempts.length).toBe(3);
    expect(listed("source")?.length).toBe(3);
    clock.advance(10_000);
    expect(children.taken.length).toBe(4);
    expect(names()).toContain("v0");
  });

  test("that rejects its input is not retried while the source stays the same", () => {
    send({ seconds: 5 }, undefined, [[0.5, () => children.current.fail("4:4:4 10 bit cannot be transcoded")]]);
    clock.advance(60_000);
    expect(children.taken.length).toBe(1);
    const attempts = [{ error: "4:4:4 10 bit cannot be transcoded" }];
    expect(segments[0]).toMatchObject({ isMade: false, missed: "source-only", attempts });
    expect(outputs.ladder?.report).toMatchObject({ state: "source-only", cause: "unsupported-source" });
    expect(listed("source")?.length).toBe(2);
  });
});

describe("a child that does not respond", () => {
  test("causes gaps in the rungs and none in the source", () => {
    children.mode = "stuck";
    send({ seconds: 13 });
    expect(listed("source")?.length).toBe(6);
    expect(listed("v0")?.slice(0, 3)).toEqual(["1 gap 2", "2 gap 2", "3 gap 2"]);
    expect(segments[0]).toMatchObject({ isMade: false, missed: "late" });
  });

  test("in time is sent nothing while it is two seconds behind, and goes on at the next keyframe", () => {
    const speed = (share: number) => () => {
      children.machine = { clock, costMs: () => 1000 / 30 / share };
    };
    speed(0.5)();
    const lags: number[] = [];
    const look = Array.from({ length: 128 }, (_, at): [number, () => void] => [
      at / 10,
      () => lags.push(outputs.ladder?.lagMs ?? 0),
    ]);
    send({ seconds: 13 }, undefined, look);
    expect(children.taken).toHaveLength(1);
    const times = children.current.taken.map((pts) => Math.floor(pts / 90_000));
    // Two seconds behind after four, it needs the next four to catch up.
    expect([...new Set(times)].slice(0, 6)).toEqual([0, 1, 2, 3, 4, 10]);
    // The last picture of those four seconds.
    expect(Math.max(...lags)).toBeLessThan(4100);
    expect(lags.filter((lag) => lag === 0).length).toBeGreaterThan(5);
    expect(listed("source")?.join()).not.toContain("gap");
    expect(segments.map(({ missing }) => missing.length)).toContain(2);
    expect(segments.filter(({ missing }) => missing.length === 0).length).toBeGreaterThan(0);
  });

  test("because it takes three seconds to load, and then works at twice real time, gets every picture and makes every segment whole", () => {
    children.areLoaded = false;
    children.machine = { clock, costMs: () => 1000 / 30 / 2 };
    let lagMs = 0;
    send({ seconds: 13 }, undefined, [
      [
        3,
        () => {
          lagMs = outputs.ladder?.lagMs ?? 0;
          children.current.loaded();
        },
      ],
    ]);
    expect(lagMs).toBeGreaterThan(2500);
    expect(warnings).toEqual([]);
    expect(children.taken).toHaveLength(1);
    expect(listed("v0")).toEqual(listed("source"));
    expect(segments.map(({ missing }) => missing)).toEqual(segments.map(() => []));
  });

  test("in time for one segment leaves a gap as long as that, and the segment before as long as it was", () => {
    const setBacklog = (bytes: number) => () => {
      children.current.backlogBytes = bytes;
    };
    send({ seconds: 9 }, undefined, [
      [1.99, setBacklog(1e9)],
      [3.5, setBacklog(0)],
    ]);
    expect(listed("v0")).toEqual(["1 2", "2 gap 2", "3 2", "4 2"]);
  });

  test("does not prevent a session from ending", () => {
    children.mode = "stuck";
    send({ seconds: 3 });
    timeline.end();
    expect(rendition("source")?.hasEnded).toBe(true);
    clock.advance(1500);
    expect(rendition("v0")?.hasEnded).toBe(true);
  });
});

describe("a child that hangs", () => {
  const hangAt = (second: number): [number, () => void] => [
    second,
    () => {
      children.current.mode = "hung";
    },
  ];

  test.each([
    ["one rung", PROFILES.slice(1)],
    ["two rungs", PROFILES],
  ])("is replaced after 4 s, with a reason, and %s continues", (_, profiles) => {
    open(profiles);
    send({ seconds: 20 }, undefined, [hangAt(4.5), [8.4, () => expect(children.taken).toHaveLength(1)]]);
    expect(children.taken.map(({ isKilled }) => isKilled)).toEqual([true, false]);
    const whole = segments.filter(({ missing }) => missing.length === 0).map(({ msn }) => msn);
    expect(whole).toEqual([1, 2, ...whole.slice(2)]);
    expect(whole.slice(2)).toEqual([5, 6, 7, 8, 9].slice(-whole.slice(2).length));
    expect(whole.length).toBeGreaterThan(5);
    const errors = segments.flatMap(({ attempts }) => attempts.map(({ error }) => error)).filter((e) => e !== null);
    expect(errors).toContain("The transcoder made no progress for 4 s.");
    expect(errors.join()).not.toMatch(/paused/);
    expect(outputs.ladder?.report.renditions.map(({ state }) => state)).toEqual(profiles.map(() => "running"));
  });

  test("like all its successors: timeouts double, then only the source plays and retries become rarer", () => {
    children.mode = "hung";
    send({ seconds: 600 }, undefined, [
      [5, () => expect(children.taken).toHaveLength(2)],
      [11.9, () => expect(children.taken).toHaveLength(2)],
      [12.5, () => expect(children.taken).toHaveLength(3)],
      [70, () => expect(names()).toEqual(["source", "audio"])],
    ]);
    expect(children.taken.length).toBeLessThan(12);
    expect(children.taken.filter(({ isKilled }) => !isKilled).length).toBeLessThanOrEqual(1);
    expect(segments.flatMap(({ attempts }) => attempts).some(({ error }) => error?.includes("paused"))).toBe(false);
    children.mode = "working";
    send({ seconds: 310, clockAt: 600 });
    expect(names()).toContain("v0");
  });

  test("is not a child that is idle, nor one that needs a second for each picture", () => {
    open(PROFILES.slice(1));
    send({ seconds: 4 });
    clock.advance(60_000);
    children.machine = { clock, costMs: () => 1000 };
    send({ seconds: 4, clockAt: 4 });
    send({ seconds: 30, clockAt: 8 });
    expect(children.taken).toHaveLength(1);
  });

  test.each([
    ["one rung", PROFILES.slice(1)],
    ["two rungs", PROFILES],
  ])("is one that only acknowledges cuts, with %s: it is replaced, and the rungs go on", (_, profiles) => {
    open(profiles);
    const acknowledgeOnly = (): void => {
      children.current.mode = "stuck";
    };
    send({ seconds: 60 }, undefined, [[4.5, acknowledgeOnly]]);
    expect(children.taken.map(({ isKilled }) => isKilled)).toEqual([true, false]);
    expect(segments.flatMap(({ attempts }) => attempts)).toContainEqual(
      expect.objectContaining({ error: "The transcoder made no progress for 4 s." }),
    );
    expect(listed("v0")?.slice(-8)).toEqual(listed("source")?.slice(-8));
    expect(outputs.ladder?.report).toMatchObject({ state: "running" });
  });
});

describe("a full machine", () => {
  test("plays source only, with a reason, and admits the ladder when capacity is free", () => {
    admission = new TranscodeAdmission({ cores: 0.2, freeBytes: () => 1e12 });
    const busy = admission.admit(VIDEO, []);
    if (typeof busy === "string") throw new Error(busy);
    open();
    const blocker = new TranscodeAdmission({ cores: 0, freeBytes: () => 1e12 });
    expect(blocker.admit(VIDEO, [])).toMatch(/0\.0 of 0\.0 are free: end another stream/);
    send({ seconds: 5 });
    expect(names()).toEqual(["source", "audio", "v0", "v1"]);
  });

  test("is filled by the frame rate that a source really sends, not by the declared one", () => {
    admission = new TranscodeAdmission({ cores: 0.13, freeBytes: () => 1e12 });
    open();
    send({ seconds: 3, frameRate: 60 });
    expect(names()).toContain("v0");
    expect(admission.admit(VIDEO, [])).toMatch(/and 0\.0 of 0\.1 are free/);
  });

  test("is reported when memory is short", () => {
    admission = new TranscodeAdmission({ cores: 2, freeBytes: () => 1000 });
    open();
    send({ seconds: 5 });
    expect(names()).toEqual(["source", "audio"]);
    expect(children.taken).toEqual([]);
    expect(segments[0]?.attempts[0]?.error).toMatch(/not enough free memory/);
    expect(outputs.ladder?.report).toMatchObject({ state: "source-only", cause: "machine-full" });
  });
});

test("a source whose pictures stay away while its sound goes on is no slow machine: no rung is paused, and nothing is reported as late", () => {
  send({ seconds: 49 }, (arrivals) =>
    arrivals.filter(({ at, packet }) => packet.kind === "audio" || at < 5000 || at > 43_900),
  );
  expect(listed("v0")?.some((segment) => segment.includes("gap"))).toBe(true);
  expect(warnings).toEqual([]);
  expect(segments.map(({ missed }) => missed).filter(Boolean)).toEqual([]);
  expect(outputs.ladder?.report).toMatchObject({
    state: "running",
    renditions: [{ state: "running" }, { state: "running" }],
  });
});
