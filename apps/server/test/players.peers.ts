import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Page } from "playwright-core";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { openRunFolder } from "../src/platform/data-folder.ts";
import { openArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { ForeignPlayer, NativePlayer, type ScriptPlayer } from "./support/foreign-players.ts";
import { renditionUrl } from "./support/live-renditions.ts";
import { SMALL_LADDER } from "./support/transcoding.ts";

/** Time until a playlist has its full length. */
const WARM_MS = 16_000;
const BEFORE_DROP_MS = 15_000;
const AWAY_MS = 5000;
/** Without sound, and with it between. */
const SILENT_MS = 20_000;
const SOUND_MS = 10_000;
/** A change of the sound may stop a player for so much longer than a reconnect without one. */
const MAX_STALL_OF_CHANGE_MS = 1000;
/** A position in the recording after the interruption. */
const BEHIND_DROP_SECONDS = 40;
const PLAYS_AGAIN_MS = 25_000;

const arena = openArena();
/** The tables of docs/3-watch. */
const table: string[] = [];
const soundTable: string[] = [];
afterAll(() => {
  const stages = THROUGH_SILENCE.map(({ stage }) => stage);
  console.log(
    [`| player | ${stages.join(" | ")} |`, `| --- |${" --- |".repeat(stages.length)}`, ...soundTable].join("\n"),
  );
  const head = [
    "| player | first frame | behind live | longest stall | in the recording |",
    "| --- | --- | --- | --- | --- |",
  ];
  console.log([...head, ...table].join("\n"));
});

/** A player of a live stream, then of its recording. */
interface Watched {
  readonly name: string;
  /** Its position; rejects if playback has ended. */
  position(): Promise<number>;
  figures(): Promise<string>;
  /** The longest stall since the last call; of a player in a browser, as long as it had nothing to play. */
  takeLongestStallMs(): Promise<number>;
  close(): Promise<void>;
  /** Plays and seeks, and returns the result. */
  record(url: string): Promise<string>;
}

/** Plays one broadcast, whose publisher is gone for 5 s, in all of these players, then its recording in each. */
async function throughDrop(open: (url: string) => Promise<Watched>[]): Promise<void> {
  await using broadcast = await startBroadcast(arena.weir, {
    ...{ seconds: 120, bFrames: 2 },
    stream: { record: true, profiles: [] },
  });
  await sleep(WARM_MS);
  const players = await Promise.all(open(broadcast.hlsUrl));
  await sleep(BEFORE_DROP_MS);
  const figures = await Promise.all(players.map((player) => player.figures()));
  await broadcast.publisher.kill();
  await sleep(AWAY_MS);
  const publisher = await broadcast.publish();
  const rows = await Promise.all(
    players.map(async (player, index) => {
      const [name, before] = [player.name, await player.position()];
      const plays = async () => (await player.position()) > before + 10;
      const isBack = await vi.waitUntil(plays, { timeout: PLAYS_AGAIN_MS, interval: 500 }).catch(() => false);
      expect(isBack, `${name} stopped at ${await player.position()} s`).toBe(true);
      const stall = (await player.figures()).split(" | ").at(-1);
      return `| ${name} | ${figures[index]?.split(" | ").slice(0, 2).join(" | ")} | ${stall} |`;
    }),
  );
  await Promise.all(players.map((player) => player.close()));
  await publisher.stop();
  const { recordingUrl } = await broadcast.recorded();
  for (const [index, player] of players.entries()) table.push(`${rows[index]} ${await player.record(recordingUrl)} |`);
}

const seconds = (ms: number | null): string => (ms === null ? "?" : `${(ms / 1000).toFixed(1)} s`);

async function script(kind: ScriptPlayer, url: string, lowLatency: boolean): Promise<Watched> {
  const player = await ForeignPlayer.play(arena.browser, kind, url, lowLatency);
  const names = { hls: "hls.js", shaka: "shaka-player 4.16", shaka5: "shaka-player 5.2", videojs: "video.js" };
  return {
    name: names[kind] + (lowLatency ? ", low latency" : ""),
    position: async () => (await player.state()).frames / 30,
    figures: async () => {
      const { firstFrameMs, delayMs, longestStallMs } = await player.state();
      return [firstFrameMs, delayMs, longestStallMs].map(seconds).join(" | ");
    },
    takeLongestStallMs: () => player.takeLongestStarvationMs(),
    close: () => player.close(),
    record: async (recordingUrl) => {
      const recording = await ForeignPlayer.play(arena.browser, kind, recordingUrl, lowLatency);
      const isPast = async (second: number) => {
        const { currentTime, isPlaying } = await recording.state();
        return isPlaying && currentTime > second;
      };
      await vi.waitUntil(() => isPast(1), { timeout: 20_000, interval: 200 });
      const seekAt = performance.now();
      await recording.seek(BEHIND_DROP_SECONDS);
      await vi.waitUntil(() => isPast(BEHIND_DROP_SECONDS), { timeout: 20_000, interval: 50 });
      const seekMs = performance.now() - seekAt;
      await recording.close();
      return `plays, seeks within ${seconds(seekMs)}`;
    },
  };
}

async function native(kind: "vlc" | "gstreamer" | "ffmpeg", url: string): Promise<Watched> {
  const player = NativePlayer[kind](url);
  const position = async ({ hasExited, position, log }: NativePlayer): Promise<number> => {
    expect(hasExited, log.slice(-3000)).toBe(false);
    return position ?? 0;
  };
  return {
    name: { vlc: "VLC", gstreamer: "GStreamer", ffmpeg: "ffmpeg" }[kind],
    position: () => position(player),
    figures: async () => [player.firstFrameMs, null, player.longestStallMs].map(seconds).join(" | "),
    takeLongestStallMs: async () => player.takeLongestStallMs(),
    close: () => player.stop(),
    record: async (recordingUrl) => {
      const recording = NativePlayer[kind](recordingUrl);
      const isPast = () => recording.hasExited || (recording.position ?? 0) > BEHIND_DROP_SECONDS;
      await vi.waitUntil(isPast, { timeout: 60_000, interval: 200 });
      expect(recording.position ?? 0, recording.log.slice(-3000)).toBeGreaterThan(BEHIND_DROP_SECONDS);
      await recording.stop();
      return "plays past the drop";
    },
  };
}

/**
 * Each begins with another publisher. Where the sound stays, players stop for the reconnect alone; the more often they did, the less they have buffered
 * for the next one, so one such stage is before the sound is lost, and one behind.
 */
const THROUGH_SILENCE = [
  { stage: "sound comes late", audio: true, changes: true },
  { stage: "sound stays", audio: true, changes: false },
  { stage: "sound is lost", audio: false, changes: true },
  { stage: "sound comes back", audio: true, changes: true },
  { stage: "sound stays again", audio: true, changes: false },
];

/** Plays a session that begins without sound, while the one before it had sound, in all of these players. */
async function throughSilence(open: (url: string) => Promise<Watched>[]): Promise<void> {
  await using broadcast = await startBroadcast(arena.weir, { seconds: 120 });
  await broadcast.untilSegments(1);
  await broadcast.publisher.stop();
  await broadcast.untilState("idle");
  await broadcast.publish({ audio: false });
  await broadcast.untilState("live");
  await sleep(SILENT_MS);
  const players = await Promise.all(open(broadcast.hlsUrl));
  await sleep(BEFORE_DROP_MS);
  /** Of each player in each stage, beyond the time without a publisher. */
  const stalls: number[][] = players.map(() => []);
  for (const { stage, audio } of THROUGH_SILENCE) {
    const before = await Promise.all(players.map((player) => player.position()));
    await Promise.all(players.map((player) => player.takeLongestStallMs()));
    const killedAt = performance.now();
    await broadcast.publisher.kill();
    await broadcast.untilState("reconnecting");
    await broadcast.publish({ audio });
    await broadcast.untilState("live");
    const awayMs = performance.now() - killedAt;
    await sleep(audio ? SOUND_MS : SILENT_MS);
    for (const [index, player] of players.entries()) {
      const plays = async () => (await player.position()) > (before[index] ?? 0) + SOUND_MS / 2000;
      const isOn = await vi.waitUntil(plays, { timeout: PLAYS_AGAIN_MS, interval: 500 }).catch(() => false);
      expect(isOn, `${player.name}, ${stage}: it stopped at ${await player.position()} s`).toBe(true);
      stalls[index]?.push(Math.max(0, (await player.takeLongestStallMs()) - awayMs));
    }
  }
  for (const [index, { name }] of players.entries())
    soundTable.push(`| ${name} | ${stalls[index]?.map(seconds).join(" | ")} |`);
  await Promise.all(players.map((player) => player.close()));
  const longest = (of: readonly number[] = [], changes: boolean) =>
    Math.max(...of.filter((_, nth) => THROUGH_SILENCE[nth]?.changes === changes));
  const tooLong = players.flatMap(({ name }, index) => {
    const ofChange = longest(stalls[index], true) - longest(stalls[index], false);
    return ofChange > MAX_STALL_OF_CHANGE_MS ? [`${name}: ${seconds(ofChange)}`] : [];
  });
  expect(tooLong).toEqual([]);
}

const LIMIT_MS = 240_000;

const SCRIPTS: readonly ScriptPlayer[] = ["hls", "shaka", "shaka5", "videojs"];

test.each([true, false])(
  "hls.js, shaka-player and video.js (low latency: %s) play on when the publisher is back, and seek the recording",
  (lowLatency) => throughDrop((url) => SCRIPTS.map((kind) => script(kind, url, lowLatency))),
  LIMIT_MS,
);

test.each([true, false])(
  "hls.js, shaka-player and video.js (low latency: %s) play on when the sound comes late, goes and comes back",
  (lowLatency) => throughSilence((url) => SCRIPTS.map((kind) => script(kind, url, lowLatency))),
  LIMIT_MS,
);

test(
  "VLC, GStreamer and ffmpeg play on when the sound comes late, goes and comes back",
  () => throughSilence((url) => (["vlc", "gstreamer", "ffmpeg"] as const).map((kind) => native(kind, url))),
  LIMIT_MS,
);

test(
  "VLC, GStreamer and ffmpeg play on when the publisher is back, and play the recording",
  () => throughDrop((url) => (["vlc", "gstreamer", "ffmpeg"] as const).map((kind) => native(kind, url))),
  LIMIT_MS,
);

test("hls.js and shaka-player 5.2 are led around the gaps of paused rungs in a recording, with less bandwidth than its source has", async () => {
  const { weir, browser } = arena;
  await using broadcast = await startBroadcast(weir, {
    ...{ width: 640, height: 360, bitrateBps: 1_200_000, seconds: 60 },
    stream: { profiles: SMALL_LADDER, record: true },
  });
  await broadcast.untilSegments(16, 60_000);
  await broadcast.publisher.stop();
  const database = new pg.Client({ host: openRunFolder(weir.dataFolder), user: "weir", database: "postgres" });
  await database.connect();
  const isPaused = "(rendition = 'v0' and msn between 3 and 8) or (rendition = 'v1' and msn between 9 and 13)";
  await database.query(
    `delete from recording_segment where (${isPaused}) and session_id = (select id from session where stream_id = $1)`,
    [broadcast.stream.id],
  );
  await database.end();
  const { recordingUrl, sourceSegmentsDuration } = await broadcast.recorded();
  expect(await (await fetch(await renditionUrl(recordingUrl, "v0"))).text()).toContain("#EXT-X-GAP");
  const slowDown = async (page: Page) => {
    const network = await browser.context.newCDPSession(page);
    await network.send("Network.enable");
    const bytesPerSecond = 600_000 / 8;
    const speeds = { downloadThroughput: bytesPerSecond, uploadThroughput: bytesPerSecond };
    await network.send("Network.emulateNetworkConditions", { offline: false, latency: 20, ...speeds });
  };
  browser.context.on("page", slowDown);
  onTestFinished(() => void browser.context.off("page", slowDown));
  for (const kind of ["hls", "shaka5"] as const) {
    const player = await ForeignPlayer.play(browser, kind, recordingUrl, false);
    const isOver = async () => (await player.state()).currentTime > sourceSegmentsDuration - 1;
    await vi.waitUntil(isOver, { timeout: 90_000, interval: 500 });
    const { longestStallMs, errors } = await player.state();
    console.log(`${kind}: longest stall ${Math.round(longestStallMs)} ms; ${errors.join(", ")}`);
    expect(longestStallMs).toBeLessThan(3000);
    await player.close();
  }
}, 300_000);
