import type { StreamIssueEvent } from "@weir/contract";
import { expect, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { type Broadcast, startBroadcast } from "./support/broadcast.ts";
import { newestTranscoder, SMALL_LADDER } from "./support/transcoding.ts";

const SOURCE_WITHIN_MS = 2_000;
/** A segment of 2 s plus 2 s. */
const TRANSCODE_WITHIN_MS = 4_000;
const LATE_KEYFRAME_MS = 4_500;

const arena = openArena();
/** Half the usual frame rate and a small source, so that a busy machine keeps up. */
const transcoded = { frameRate: 15, width: 480, height: 270, stream: { profiles: SMALL_LADDER } };

test("a too long keyframe interval is reported within two seconds, and closed by a correctly configured encoder", async () => {
  await using broadcast = await startBroadcast(arena.weir, { gopSeconds: 8, stream: { profiles: [] } });
  const opened = await untilIssue(broadcast, "keyframe-interval-too-long", "opened");
  const [session] = await broadcast.sessions();
  expect(opened.timestamp - (session?.createdAt ?? 0)).toBeLessThan(LATE_KEYFRAME_MS + SOURCE_WITHIN_MS);
  expect(opened).toMatchObject({
    remedy: expect.stringContaining("2 s"),
    evidence: expect.stringMatching(/^\d\.\d s/),
  });
  expect(await broadcast.now()).toMatchObject({
    isHealthy: false,
    issues: [opened.sentence],
    status: { issues: [{ code: opened.code, remedy: opened.remedy }] },
  });
  await broadcast.publish({ gopSeconds: 2 });
  await untilIssue(broadcast, "keyframe-interval-too-long", "closed");
  expect(await broadcast.now()).toMatchObject({ isHealthy: true, issues: [] });
});

test("a stopped transcoder is reported within a segment and two seconds, and healthy after it has caught up", async () => {
  await using broadcast = await startBroadcast(arena.weir, transcoded);
  await expect.poll(async () => (await broadcast.now()).transcodedSegments, { timeout: 40_000 }).toBeGreaterThan(2);
  // On a busy machine the transcoder may be late at its start: that issue stays open until it has kept up for 30 s, and is not opened twice.
  await expect.poll(async () => (await broadcast.now()).issues, { timeout: 60_000 }).toEqual([]);
  const pid = newestTranscoder(arena.weir);
  const stoppedAt = Date.now();
  process.kill(pid, "SIGSTOP");
  const opened = await untilIssue(broadcast, "transcoder-behind", "opened", stoppedAt);
  expect(opened.timestamp - stoppedAt).toBeLessThan(TRANSCODE_WITHIN_MS);
  process.kill(pid, "SIGCONT");
  await untilIssue(broadcast, "transcoder-behind", "closed", stoppedAt);
});

test("a source that changes to unsupported video is reported within a segment and two seconds", async () => {
  await using broadcast = await startBroadcast(arena.weir, transcoded);
  await expect.poll(async () => (await broadcast.now()).transcodedSegments, { timeout: 40_000 }).toBeGreaterThan(0);
  await broadcast.publish({ pixels: "yuv444p10le" });
  const switchedAt = Date.now();
  const opened = await untilIssue(broadcast, "unsupported-source", "opened");
  expect(opened.timestamp - switchedAt).toBeLessThan(TRANSCODE_WITHIN_MS);
  expect(opened.evidence).toContain("yuv444p10le");
  await broadcast.publisher.stop();
  await untilIssue(broadcast, "unsupported-source", "closed");
  expect(await broadcast.now()).toMatchObject({ isHealthy: null, issues: null });
});

async function untilIssue(
  { weir, stream: { id } }: Broadcast,
  code: string,
  state: StreamIssueEvent["state"],
  from = 1_700_000_000_000,
  timeout = 30_000,
): Promise<StreamIssueEvent> {
  const seen: string[] = [];
  const signal = AbortSignal.timeout(timeout);
  try {
    for await (const event of weir.client.streams.events(id, { from, signal })) {
      if (event.type !== "stream_issue") continue;
      if (event.code === code && event.state === state) return event;
      seen.push(`${event.code} ${event.state}`);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return expect.fail(`no ${code} ${state} within ${timeout} ms, but ${seen.join(", ") || "nothing"}`);
}
