import { readdirSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Timer } from "../../platform/clock.ts";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import { planAsset } from "./asset-ladder.ts";
import { makeFile } from "./media-file-rig.ts";
import { FileRefused } from "./refusal.ts";
import { ChildFailed, VodChildren } from "./vod-children.ts";
import type { EncodeJob, FramedMessage, ScannedPicture } from "./vod-protocol.ts";

const SCAN = { type: "scan", epoch: 1, segmentSeconds: 1, mayCopyVideo: true } as const;
const { signal } = new AbortController();
const NO_PICTURE = { stream: 0, offsetTicks: 0, width: 2, height: 2, frameRate: 25, bitrateBps: 0 };
const picture: ScannedPicture = { ...NO_PICTURE, isCopied: true, segments: [], endTicks: 0 };

let file: Awaited<ReturnType<typeof makeFile>>;
beforeAll(async () => {
  file = await makeFile({ format: "mp4", video: { encoder: "libx264", options: { preset: "ultrafast" } } });
});
afterAll(() => file[Symbol.asyncDispose]());

/** Starts a child that runs this script instead of its program. */
const runs = (script: string) => ({ prefix: ["/bin/sh", "-c", script, "sh"], bounds: [] });

class WatchedClock extends ManualClock {
  readonly isSet = Promise.withResolvers<void>();

  override after(...timer: Parameters<ManualClock["after"]>): Timer {
    this.isSet.resolve();
    return super.after(...timer);
  }
}

test("a hanging child that ignores signals is killed after three silent minutes", async () => {
  const clock = new WatchedClock();
  await using children = new VodChildren(clock, runs("trap '' TERM INT HUP; exec sleep 1000")).of(file.path);
  const running = children.run(SCAN, () => {}, signal);
  await clock.isSet.promise;
  clock.advance(180_000);
  await expect(running).rejects.toThrow("the media child was killed: it reported nothing for 3 minutes");
});

test("an endless job is killed after three hours, even if it reports progress", async () => {
  const clock = new ManualClock();
  const message = JSON.stringify({ message: { type: "progress", done: 0 } });
  const script = `while printf '\\0\\0\\0\\051\\001${message}' >&4; do :; done`;
  await using children = new VodChildren(clock, runs(script)).of(file.path);
  let seconds = 0;
  const minute = () => {
    clock.advance(60_000);
    seconds += 60;
  };
  await expect(children.run(SCAN, minute, signal)).rejects.toThrow(
    new ChildFailed("the media child was killed: one job took longer than 3 hours"),
  );
  expect(seconds).toBeGreaterThanOrEqual(3 * 3600);
});

test("a crashed child fails the file; a killed child can be retried", async () => {
  const end = async (name: string) => {
    await using children = new VodChildren(new ManualClock(), runs(`kill -${name} $$`)).of(file.path);
    return children.run(SCAN, () => {}, signal);
  };
  await expect(end("SEGV")).rejects.toThrow(FileRefused);
  await expect(end("KILL")).rejects.toThrow(ChildFailed);
});

test("a child that meets an error it did not expect says what it died of", async () => {
  await using children = new VodChildren(new ManualClock()).of(file.path);
  const rungs = null as unknown as EncodeJob["rungs"];
  const job = { type: "encode", epoch: 1, picture, rungs, preset: "ultrafast", delayTicks: 0 } as const;
  const running = children.run({ ...job, segments: [], endTicks: 0 }, () => {}, signal);
  await expect(running).rejects.toThrow(ChildFailed);
  await expect(running).rejects.toThrow(/^the media child ended with TypeError: .*rungs.* \(chunk-encoder\.ts:\d+\)$/);
});

test("a child's console output is discarded, and a malformed message ends it", async () => {
  const script =
    "head -c 10000000 /dev/zero; head -c 10000000 /dev/zero >&2; head -c 100000 /dev/zero | tr '\\0' x >&4; exec sleep 60";
  await using children = new VodChildren(new ManualClock(), runs(script)).of(file.path);
  await expect(children.run(SCAN, () => {}, signal)).rejects.toThrow(/a frame of \d+ bytes in a pipe/);
});

test.runIf(process.platform === "linux")("one child scans and encodes, at low priority", async () => {
  const pids = new Set<number>();
  let picture: ScannedPicture | null = null;
  await using children = new VodChildren(new ManualClock()).of(file.path);
  const expectNiceness = (niceness: number) => (framed: FramedMessage) => {
    if (framed.message.type === "scanned") picture = framed.message.file.picture;
    for (const pid of childrenHere()) {
      pids.add(pid);
      expect(getPriority(pid)).toBe(niceness);
    }
  };
  await children.run(SCAN, expectNiceness(10), signal);
  const scanned: ScannedPicture = picture ?? expect.fail("no picture");
  const rungs = planAsset(scanned, [{ name: "small", height: 64, bitrate: 100_000 }]);
  const { segments, endTicks } = scanned;
  const job = { type: "encode", epoch: 1, picture: scanned, rungs, preset: "ultrafast", delayTicks: 0 } as const;
  await children.run({ ...job, segments, endTicks }, expectNiceness(15), signal);
  expect(pids.size).toBe(1);
  await children.rest();
  expect(childrenHere()).toEqual([]);
});

function childrenHere(): number[] {
  const tasks = readdirSync("/proc/self/task");
  const pids = tasks.flatMap((task) => readFileSync(`/proc/self/task/${task}/children`, "utf8").trim().split(" "));
  return pids.filter((pid) => pid && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("vod-child.ts")).map(Number);
}
