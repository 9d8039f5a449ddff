import { readFileSync } from "node:fs";
import type { Stream, StreamIssueEvent } from "@weir/contract";
import { expect, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { brakeCpu, cpuSeconds } from "./support/cpu-brake.ts";
import { listedSegments, renditionUrl } from "./support/live-renditions.ts";
import { recordedSeconds } from "./support/recorded-seconds.ts";
import { newestTranscoder, transcodeEvents, transcoderPids } from "./support/transcoding.ts";

/** `SLOW_MINUTES=2` for a quick look. */
const SLOW_MINUTES = Number(process.env.SLOW_MINUTES ?? 10);
const MEASURED_SECONDS = 20;
/** 30 s more until the alert ends, and its segment. */
const BACK_WITHIN_MS = 90_000;
const OVER_WITHIN_MS = 60_000;
const FIRST_EVENT = 1_700_000_000_000;
const ABOUT_THE_LADDER = ["admission-refused", "unsupported-source", "transcoder-failed", "transcoder-behind"];

const arena = openArena();

test("a ladder that gets a quarter of the CPU that it needs has all rungs back within 90 s after it gets all of it", async () => {
  const options = { width: 1280, height: 720, bitrateBps: 2_500_000, bFrames: 2, seconds: 3600 };
  const { weir } = arena;
  await using broadcast = await startBroadcast(weir, { ...options, stream: { profiles: null, record: true } });
  const areAllMade = ({ status }: Stream) =>
    status.transcoding?.state === "running" && (status.renditions ?? []).every(({ state }) => state === "running");
  /** Each state of the rungs that was seen, for who asks why they are not back. */
  const seen: string[] = [];
  const allMade = async (): Promise<string> => {
    const now = await broadcast.now();
    const states = [now.status.transcoding?.state, ...(now.status.renditions ?? []).map(({ state }) => state)].join();
    if (!seen.at(-1)?.endsWith(states)) seen.push(`${Math.round(process.uptime())} s ${states}`);
    return areAllMade(now) ? "all" : seen.join("; ");
  };
  const untilAllMade = (timeout: number) => expect.poll(allMade, { timeout, interval: 500 }).toBe("all");
  await untilAllMade(60_000);

  const transcoder = newestTranscoder(weir);
  const before = cpuSeconds(transcoder);
  await seconds(MEASURED_SECONDS);
  const needed = (cpuSeconds(transcoder) - before) / MEASURED_SECONDS;
  using brake = brakeCpu(() => transcoderPids(weir), needed / 4);
  await seconds(SLOW_MINUTES * 60);
  expect((await broadcast.now()).issues?.join()).toMatch(/paused/);

  brake.release();
  const releasedAt = Date.now();
  await untilAllMade(BACK_WITHIN_MS);
  const backAfter = (Date.now() - releasedAt) / 1000;
  const issuesOf = async () => (await broadcast.now()).status.issues?.map(({ code }) => code) ?? [];
  await expect.poll(issuesOf, { timeout: OVER_WITHIN_MS, interval: 500 }).not.toContain("transcoder-behind");
  for (const rung of ["v0", "v1", "v2"]) {
    const newest = (await listedSegments(await renditionUrl(broadcast.hlsUrl, rung))).at(-1);
    expect(newest).toMatchObject({ isGap: false });
  }
  await broadcast.publisher.stop();
  const { recordingUrl, mp4Url, sourceSegments, sourceSegmentsDuration } = await broadcast.recorded();
  const source = await listedSegments(await renditionUrl(recordingUrl, "source"));
  const told = await transcodeEvents(weir, broadcast.stream.id);
  console.log(
    `${needed.toFixed(2)} cores needed, a quarter of them for ${SLOW_MINUTES} minutes (${brake.kind}): ${brake.seen.size} children, ` +
      `${told.filter(({ success }) => success).length} of ${told.length} segments in some rung meanwhile, all rungs back after ${backAfter.toFixed(0)} s`,
  );
  // None is lost: their numbers have no hole, and the file has all that was counted.
  expect(source.filter(({ isGap }) => isGap)).toEqual([]);
  expect(source.length).toBe(sourceSegments);
  expect(Math.abs((await recordedSeconds(mp4Url)) - sourceSegmentsDuration)).toBeLessThan(1);
  const alerts: StreamIssueEvent[] = [];
  const signal = AbortSignal.timeout(60_000);
  for await (const event of weir.client.streams.events(broadcast.stream.id, {
    from: FIRST_EVENT,
    signal,
  })) {
    if (event.type === "stream_issue" && ABOUT_THE_LADDER.includes(event.code)) alerts.push(event);
    if (event.type === "stream_state" && !event.state.active) break;
  }
  expect(alerts.map(({ code, state }) => [code, state])).toEqual([
    ["transcoder-behind", "opened"],
    ["transcoder-behind", "closed"],
  ]);
  // One ahead, one for each pause, and one every 30 s.
  expect(brake.seen.size).toBeLessThan(2 + 4 + SLOW_MINUTES * 2 + 4);
  const log = readFileSync(weir.logPath, "utf8");
  for (const line of ["pausing renditions", "making paused renditions again", "all renditions have kept up"])
    expect(log).toContain(line);
});

function seconds(count: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, count * 1000));
}
