import { rm } from "node:fs/promises";
import { expect, onTestFinished, test } from "vitest";
import { startBroadcast } from "./support/broadcast.ts";
import { checkOutPreviousVersion } from "./support/previous-version.ts";
import { recordedSeconds } from "./support/recorded-seconds.ts";
import { WeirProcess } from "./support/weir-process.ts";

test("a data folder of the previous version is opened by this one: streams, keys and recordings are there", async () => {
  const previous = await checkOutPreviousVersion();
  console.log(`the data folder is made by ${previous?.tag ?? "this version itself: there is no tag yet"}`);
  if (previous) onTestFinished(() => rm(previous.root, { recursive: true }));
  const old = await WeirProcess.start(previous ? { root: previous.root } : {});
  onTestFinished(() => old[Symbol.asyncDispose]());
  const broadcast = await startBroadcast(old, { seconds: 5, stream: { record: true } });
  await broadcast.publisher.ended;
  const recorded = await broadcast.recorded();
  const before = await broadcast.now();
  expect(await old.stop()).toBe(0);

  await using now = await WeirProcess.start({ dataFolder: old.dataFolder });
  const after = await now.client.streams.get(before.id);
  expect(after).toEqual({ ...after, ...before });
  const session = await now.client.sessions.get(recorded.id);
  expect(session.recordingStatus).toBe("ready");
  expect(await recordedSeconds(session.mp4Url ?? "")).toBeCloseTo(recorded.sourceSegmentsDuration, 0);
});
