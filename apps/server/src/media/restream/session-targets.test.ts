import { ChunkReader, CLIENT_CHUNK_SIZE, MESSAGE } from "@weir/formats/rtmp";
import { beforeEach, describe, expect, test } from "vitest";
import type { RestreamTarget } from "../../ports/index.ts";
import type { LineFormat } from "./line-format.ts";
import { type FakeTarget, RestreamRig, TARGET } from "./restream-test-rig.ts";
import { RtmpFormat } from "./rtmp-format.ts";

let rig: RestreamRig;
beforeEach(() => {
  rig = new RestreamRig();
});

/** Of the synthetic source: 30 pictures, and 1024 samples of 48 kHz each. */
const FRAMES_A_SECOND = 77;

const bytesOf = ({ written }: FakeTarget) => Buffer.concat(written);

/** The frames that a target received, with their timestamps in milliseconds. */
function messagesOf({ written }: FakeTarget) {
  const messages: { kind: "video" | "audio"; ms: number; size: number }[] = [];
  const reader = new ChunkReader((typeId, ms, _stream, payload) => {
    const isFrame = payload[1] === 1;
    if (isFrame && typeId === MESSAGE.video) messages.push({ kind: "video", ms, size: payload.length });
    if (isFrame && typeId === MESSAGE.audio) messages.push({ kind: "audio", ms, size: payload.length });
  });
  reader.setChunkSize(CLIENT_CHUNK_SIZE);
  for (const bytes of written) reader.push(bytes);
  return messages;
}

describe("a target", () => {
  test("is online after it has read the stream for two seconds, and reports the bytes read", async () => {
    rig.targets.set([TARGET]);
    expect(rig.targets.reports).toEqual([
      {
        target: { id: "target-1", name: "Elsewhere", profile: "source" },
        state: "pending",
        reason: null,
        metrics: null,
      },
    ]);
    rig.newest.accept();
    await rig.send({ seconds: 2 });
    expect(rig.state).toBe("pending");
    await rig.send({ seconds: 2, clockAt: 2 });
    expect(rig.changes).toEqual(["target-1 pending 1", "target-1 online (connected)"]);
    const [report] = rig.targets.reports;
    expect(report?.metrics?.bytes).toBe(rig.sent.bytes);
    expect(report?.metrics?.bytes).toBeGreaterThan(10_000);
    expect(report?.metrics?.mediaTimeMs).toBeGreaterThan(3_500);
    expect(report?.metrics?.activeSec).toBeGreaterThan(1);
  });

  test("is offline after ten attempts, with its own reason, and stays offline", () => {
    rig.targets.set([TARGET]);
    for (let attempt = 0; attempt < 10; attempt++) {
      expect(rig.state).toBe("pending");
      rig.newest.fail(`refused ${attempt}`);
      rig.pass(30_100);
    }
    expect(rig.made).toHaveLength(10);
    expect(rig.targets.reports).toMatchObject([{ state: "offline", reason: "refused 9" }]);
    rig.targets.flow(true);
    rig.targets.set([]);
    rig.targets.set([{ ...TARGET, url: "rtmp://target.example/live/Another-Key" }]);
    rig.pass(60_000);
    expect(rig.made).toHaveLength(10);
    expect(rig.targets.reports).toMatchObject([{ state: "offline", reason: "refused 9" }]);
    expect(rig.changes.filter((change) => change.includes("("))).toEqual(["target-1 offline (error)"]);
  });

  test("that an earlier process of the session gave up is not retried", () => {
    rig.targets.set([{ ...TARGET, givenUp: "The key is wrong." }]);
    expect(rig.made).toEqual([]);
    expect(rig.targets.reports).toMatchObject([{ state: "offline", reason: "The key is wrong." }]);
    expect(rig.changes).toEqual([]);
  });

  test("that is lost is retried after a second, with growing delays, even if it was briefly online", async () => {
    rig.targets.set([TARGET]);
    const waits: number[] = [];
    for (let time = 0; waits.length < 4; time++) {
      rig.newest.accept();
      await rig.send({ seconds: 4, clockAt: time * 4 });
      expect(rig.state).toBe("online");
      const lostAt = rig.clock.monotonic();
      const count = rig.made.length;
      rig.newest.fail();
      while (rig.made.length === count) rig.pass(50);
      waits.push(rig.clock.monotonic() - lostAt);
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000]);
    expect(rig.changes.slice(0, 4)).toEqual([
      "target-1 pending 1",
      "target-1 online (connected)",
      "target-1 pending 1 (error)",
      "target-1 online (connected)",
    ]);
  });

  test("that stops reading is disconnected after ten seconds", async () => {
    rig.targets.set([TARGET]);
    rig.newest.accept();
    await rig.send({ seconds: 4 });
    rig.newest.isReading = false;
    await rig.send({ seconds: 9, clockAt: 4 });
    expect(rig.state).toBe("online");
    await rig.send({ seconds: 3, clockAt: 13 });
    expect(rig.made[0]?.ended).toBe("destroyed");
    expect(rig.targets.reports).toMatchObject([{ reason: "The target has not read anything for 10 s." }]);
  });

  test("stays connected while the source is away, and reconnects only when there is media to send", async () => {
    rig.targets.set([TARGET]);
    rig.newest.accept();
    await rig.send({ seconds: 4 });
    rig.timeline.pause();
    rig.targets.flow(false);
    rig.pass(20_000);
    expect(rig.state).toBe("online");
    rig.newest.fail();
    rig.pass(20_000);
    expect(rig.made).toHaveLength(1);
    rig.targets.flow(true);
    expect(rig.made).toHaveLength(2);
  });

  test("is closed cleanly when the session ends", async () => {
    rig.targets.set([TARGET]);
    rig.newest.accept();
    await rig.send({ seconds: 4 });
    rig.timeline.end();
    rig.targets.end();
    expect(rig.newest.ended).toBe("closed");
    expect(rig.changes.at(-1)).toBe("target-1 idle (disconnected)");
    rig.targets.set([TARGET]);
    expect(rig.made).toHaveLength(1);
  });
});

describe("a target with a slate", () => {
  /** Matches messages with the source's audio; silent frames are shorter. */
  const SOUND_BYTES = 12;

  test.each([
    [true, false],
    [false, false],
    [true, true],
    [false, true],
  ])(
    "gets one picture per second and silence while the source is away; source has audio: %s, viewers get a slate too: %s",
    async (audio, hasSlate) => {
      rig = new RestreamRig({ hasSlate });
      rig.targets.set([{ ...TARGET, slate: true }]);
      rig.newest.accept();
      const shape = { seconds: 4, bFrames: 2, frameRate: 25, frameBytes: 500, audio };
      await rig.send(shape);
      const before = messagesOf(rig.newest).length;
      rig.timeline.pause();
      rig.targets.flow(false);
      rig.pass(20_000);
      const away = messagesOf(rig.newest).slice(before);
      expect(rig.state).toBe("online");
      const pictures = away.filter(({ kind, size }) => kind === "video" && size > 500);
      expect(pictures.length).toBeGreaterThanOrEqual(20);
      expect(away.filter(({ kind, size }) => kind === "audio" && size < SOUND_BYTES).length).toBeGreaterThan(900);

      rig.targets.flow(true);
      await rig.send({ ...shape, clockAt: 50 });
      const all = messagesOf(rig.newest);
      for (const kind of ["video", "audio"]) {
        const times = all.filter((message) => message.kind === kind).map(({ ms }) => ms);
        const steps = times.slice(1).map((ms, index) => ms - (times[index] ?? 0));
        expect(Math.min(...steps)).toBeGreaterThan(0);
        expect(Math.max(...steps)).toBeLessThanOrEqual(kind === "video" ? 1_600 : 45);
      }
      // Audio and video keep their offset, 20 s and the margin later.
      const [first, last] = ["video", "audio"].map(
        (kind) => all.filter((message) => message.kind === kind).at(-1)?.ms ?? 0,
      );
      expect(Math.abs((first ?? 0) - (last ?? 0))).toBeLessThan(50);
      expect(Math.abs((last ?? 0) - 28_500)).toBeLessThan(200);
    },
  );

  test("that wants none has no hole where viewers got one", async () => {
    rig = new RestreamRig({ hasSlate: true });
    rig.targets.set([TARGET]);
    rig.newest.accept();
    await rig.send({ seconds: 4, bFrames: 2 });
    rig.timeline.pause();
    rig.targets.flow(false);
    rig.pass(20_000);
    rig.targets.flow(true);
    await rig.send({ seconds: 4, bFrames: 2, clockAt: 50 });
    const all = messagesOf(rig.newest);
    for (const kind of ["video", "audio"]) {
      const times = all.filter((message) => message.kind === kind).map(({ ms }) => ms);
      const steps = times.slice(1).map((ms, index) => ms - (times[index] ?? 0));
      expect(Math.min(...steps)).toBeGreaterThan(0);
      expect(Math.max(...steps)).toBeLessThan(100);
    }
    expect(all.at(-1)?.ms).toBeLessThan(8_200);
  });

  test("gets no slate at a takeover", async () => {
    rig.targets.set([{ ...TARGET, slate: true }]);
    rig.newest.accept();
    await rig.send({ seconds: 4, frameBytes: 500 });
    await rig.send({ seconds: 4, frameBytes: 500, clockAt: 100 });
    rig.pass(200);
    const all = messagesOf(rig.newest);
    expect(all.filter(({ kind }) => kind === "audio").every(({ size }) => size === SOUND_BYTES)).toBe(true);
    expect(all.at(-1)?.ms).toBeLessThan(8_100);
  });

  test("that joins while the source is away waits for it, and targets without a slate get nothing", async () => {
    rig.targets.set([TARGET]);
    rig.newest.accept();
    await rig.send({ seconds: 4 });
    rig.timeline.pause();
    rig.targets.flow(false);
    rig.pass(1_000);
    const { length } = rig.newest.written;
    rig.targets.set([TARGET, { ...TARGET, id: "target-2", slate: true }]);
    rig.pass(5_000);
    expect(rig.made).toHaveLength(1);
    expect(rig.newest.written).toHaveLength(length);
  });
});

describe("the targets of a session", () => {
  const second: RestreamTarget = { ...TARGET, id: "target-2" };

  test("are added, changed and removed independently while it is live", async () => {
    rig.targets.set([TARGET]);
    rig.newest.accept();
    await rig.send({ seconds: 4 });
    rig.targets.set([{ ...TARGET, name: "Renamed" }, second]);
    const [first, added] = rig.made;
    added?.accept();
    await rig.send({ seconds: 4, clockAt: 4 });
    expect([first?.ended, added?.ended]).toEqual([null, null]);
    rig.targets.set([{ ...TARGET, url: "rtmp://target.example/live/New-Key" }]);
    expect([first?.ended, added?.ended]).toEqual(["closed", "closed"]);
    expect(rig.newest.url).toContain("New-Key");
    expect(rig.changes).toEqual([
      "target-1 pending 1",
      "target-1 online (connected)",
      "target-2 pending 1",
      "target-2 online (connected)",
      "target-1 idle (disconnected)",
      "target-2 idle (disconnected)",
      "target-1 pending 1",
    ]);
  });

  test("share the serialized bytes", async () => {
    rig.targets.set([TARGET, second]);
    for (const target of rig.made) target.accept();
    await rig.send({ seconds: 2 });
    const [one, other] = rig.made.map(({ given }) => given.slice(1));
    expect(one?.length).toBeGreaterThan(5);
    expect(one?.every((bytes, index) => bytes.buffer === other?.[index]?.buffer)).toBe(true);
  });

  test("start at the last keyframe, whenever they join", async () => {
    rig.targets.set([TARGET]);
    rig.newest.accept();
    await rig.send({ seconds: 3 });
    rig.targets.set([TARGET, second]);
    rig.newest.accept();
    const [first, late] = rig.made.map(bytesOf);
    expect(late?.length).toBeGreaterThan(1_000);
    expect(first?.subarray(-1_000)).toEqual(late?.subarray(-1_000));
  });

  test("that are slow skip only their own frames, up to the next keyframe, with a reason, and one log line counts them", async () => {
    rig = new RestreamRig({ maxQueued: 20_000 });
    rig.targets.set([TARGET, second]);
    for (const target of rig.made) target.accept();
    await rig.send({ seconds: 4 });
    const [slow, steady] = rig.made;
    if (!slow || !steady) throw new Error("two were connected to");
    slow.isReading = false;
    for (let second = 4; second < 24; second++) {
      await rig.send({ seconds: 1, gopSeconds: 1, clockAt: second });
      slow.take(2_000);
      expect(slow.queuedBytes).toBeLessThan(21_000);
    }
    expect(bytesOf(slow).length).toBeLessThan(0.8 * bytesOf(steady).length);
    expect(rig.targets.reports).toMatchObject([
      {
        state: "online",
        reason: expect.stringMatching(/^The target reads too slowly: \d+\.\d s of the stream were skipped\.$/),
      },
      { state: "online", reason: null },
    ]);
    expect(rig.sent.skippedMs).toBeGreaterThan(2_000);
    expect(rig.warnings).toEqual([]);

    rig.targets.end();
    slow.take(Number.POSITIVE_INFINITY);
    const dropped = messagesOf(steady).length - messagesOf(slow).length;
    expect(dropped).toBeGreaterThan(200);
    expect(rig.warnings).toEqual([{ reader: "multistream target", targetId: "target-1", dropped }]);
  });

  test("that are all too slow have nothing written for them, and start again at a keyframe", async () => {
    rig = new RestreamRig({ maxQueued: 20_000 });
    rig.targets.set([TARGET]);
    const { newest } = rig;
    let written = 0;
    const format = new RtmpFormat(1);
    const counting: LineFormat = {
      batchMs: format.batchMs,
      begin: (tracks) => format.begin(tracks),
      opening: (ticks) => format.opening(ticks),
      write: (pages, frame) => {
        written++;
        format.write(pages, frame);
      },
    };
    newest.handler.ready({ key: "counted", create: () => counting });
    newest.isReading = false;
    await rig.send({ seconds: 8, frameBytes: 500 });
    newest.isReading = true;
    newest.take(Number.POSITIVE_INFINITY);
    const before = messagesOf(newest);
    expect(written - before.length).toBeLessThan(2 * FRAMES_A_SECOND);
    expect(written).toBeLessThan(4 * FRAMES_A_SECOND);
    await rig.send({ seconds: 4, clockAt: 8, frameBytes: 500 });
    rig.targets.end();
    const after = messagesOf(newest).slice(before.length);
    expect(after[0]).toMatchObject({ kind: "video" });
    expect(after.length).toBeGreaterThan(3 * FRAMES_A_SECOND);
    expect(rig.warnings).toEqual([
      {
        targetId: "target-1",
        reader: "multistream target",
        dropped: expect.closeTo(8 * FRAMES_A_SECOND - before.length, -1),
      },
    ]);
  });

  test("get unchanged bytes from reused memory, however late they read them", async () => {
    rig.targets.set([TARGET, second]);
    for (const target of rig.made) target.accept();
    const [late, steady] = rig.made;
    if (!late || !steady) throw new Error("two were connected to");
    late.isReading = false;
    for (let second = 0; second < 60; second++) {
      // 4 Mbit/s, so the late target has two to eight seconds to read.
      await rig.send({ seconds: 1, gopSeconds: 1, clockAt: second, frameBytes: 16_000 });
      if (second % 6 === 5) late.take(late.queuedBytes - 1_000_000);
    }
    late.take(late.queuedBytes);
    expect(bytesOf(steady).length).toBeGreaterThan(28_000_000);
    expect(bytesOf(late).equals(bytesOf(steady))).toBe(true);
    expect(rig.memory.made).toBeLessThan(24);
  });

  test("are queried again while unavailable, and outdated answers are ignored", async () => {
    const answers: ((targets: readonly RestreamTarget[]) => void)[] = [];
    rig.asked = () => Promise.reject(new Error("the database is away"));
    await rig.targets.refresh();
    rig.asked = () => new Promise((resolve) => answers.push(resolve));
    rig.pass(1_000);
    const newer = rig.targets.refresh();
    answers[1]?.([second]);
    answers[0]?.([TARGET]);
    await newer;
    expect(rig.changes).toEqual(["target-2 pending 1"]);
  });

  test("that want a rendition that does not exist get a reason, once this is known", async () => {
    rig.targets.set([{ ...TARGET, profile: "720p0" }]);
    rig.newest.accept();
    rig.pass(1_000);
    expect(rig.targets.reports).toMatchObject([{ state: "pending", reason: null }]);
    await rig.send({ seconds: 2 });
    const reason = 'The rendition "720p0" is not being made, so there is nothing to send.';
    expect(rig.targets.reports).toMatchObject([{ state: "pending", reason }]);
  });
});

describe("the source's parts are published on time despite targets", () => {
  /** When each part was published, and its size. */
  async function partsOf(
    prepare: (rig: RestreamRig) => void,
    misbehave: (rig: RestreamRig) => void,
  ): Promise<string[]> {
    const one = new RestreamRig({ maxQueued: 5_000 });
    prepare(one);
    const seen = new Map<string, string>();
    const look = async () => {
      misbehave(one);
      for (const { msn, parts } of one.outputs.renditions[0]?.listed ?? [])
        for (const [index, { durationTicks }] of parts.entries())
          seen.set(
            `${msn}.${index}`,
            seen.get(`${msn}.${index}`) ?? `${msn}.${index} ${durationTicks} ${one.clock.monotonic()}`,
          );
    };
    await one.send({ seconds: 12 }, undefined, look);
    return [...seen.values()];
  }

  test.each<[string, (rig: RestreamRig) => void]>([
    [
      "that accept and never read",
      (one) => {
        for (const target of one.made) target.isReading = false;
      },
    ],
    [
      "that read at half speed",
      (one) => {
        for (const target of one.made) {
          target.isReading = false;
          target.take(90);
        }
      },
    ],
    [
      "that fail again and again",
      (one) => {
        for (const target of one.made) if (target.ended === null) target.fail();
      },
    ],
    [
      "that come and go",
      (one) => {
        one.targets.set(one.made.length % 2 === 0 ? [TARGET] : []);
        one.newest.accept();
      },
    ],
  ])("%s", async (_what, misbehave) => {
    const alone = await partsOf(
      () => {},
      () => {},
    );
    expect(alone.length).toBeGreaterThan(20);
    const targets = Array.from({ length: 10 }, (_, index) => ({ ...TARGET, id: `target-${index}` }));
    const prepare = (one: RestreamRig) => {
      one.targets.set(targets);
      for (const target of one.made) target.accept();
    };
    expect(await partsOf(prepare, misbehave)).toEqual(alone);
  });
});
