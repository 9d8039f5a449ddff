import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test, vi } from "vitest";
import { openArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { ForeignPlayer, NativePlayer, type ScriptPlayer } from "./support/foreign-players.ts";
import { SMALL_LADDER } from "./support/transcoding.ts";

/** Until a playlist has its full length. */
const WARM_MS = 14_000;
const BEFORE_MS = 10_000;
const AWAY_MS = 20_000;
const AFTER_MS = 12_000;
/** Pictures come three times a second, and the programs print their position once a second. */
const LONGEST_STALL_MS = 1_500;

const arena = openArena();
/** The table of docs/3-watch. */
const table: string[] = [];
afterAll(() => console.log(["| player | ladder | longest stall |", "| --- | --- | --- |", ...table].join("\n")));

interface Watching {
  readonly name: string;
  /** Its position in seconds; rejects if playback has ended. */
  position(): Promise<number>;
  takeLongestStallMs(): Promise<number>;
  close(): Promise<void>;
}

async function script(kind: ScriptPlayer, url: string, lowLatency: boolean): Promise<Watching> {
  const player = await ForeignPlayer.play(arena.browser, kind, url, lowLatency);
  return {
    name: `${kind}${lowLatency ? ", low latency" : ""}`,
    position: async () => (await player.state()).currentTime,
    takeLongestStallMs: () => player.takeLongestStallMs(),
    close: () => player.close(),
  };
}

async function native(kind: "vlc" | "gstreamer" | "ffmpeg", url: string): Promise<Watching> {
  const player = NativePlayer[kind](url);
  return {
    name: kind,
    position: async () => {
      expect(player.hasExited, player.log.slice(-3000)).toBe(false);
      return player.position ?? 0;
    },
    takeLongestStallMs: async () => player.takeLongestStallMs(),
    close: () => player.stop(),
  };
}

const PLAYERS: { readonly [group: string]: (url: string) => Promise<Watching>[] } = {
  "hls.js and shaka-player": (url) => [
    script("hls", url, true),
    script("hls", url, false),
    script("shaka", url, true),
    script("shaka5", url, false),
  ],
  "VLC, GStreamer and ffmpeg": (url) => [native("vlc", url), native("gstreamer", url), native("ffmpeg", url)],
};

test.each([
  ["hls.js and shaka-player", 0],
  ["hls.js and shaka-player", 2],
  ["VLC, GStreamer and ffmpeg", 0],
  ["VLC, GStreamer and ffmpeg", 2],
] as const)(
  "%s play on while the source is away for 20 s, with %i rungs",
  async (group, rungs) => {
    await using broadcast = await startBroadcast(arena.weir, {
      ...{ seconds: 120, bFrames: 2 },
      stream: { slate: "last-picture", record: true, profiles: rungs === 0 ? [] : SMALL_LADDER },
    });
    await sleep(WARM_MS);
    const players = await Promise.all(PLAYERS[group]?.(broadcast.hlsUrl) ?? []);
    await sleep(BEFORE_MS);
    await Promise.all(players.map((player) => player.takeLongestStallMs()));
    const before = await Promise.all(players.map((player) => player.position()));
    await broadcast.publisher.kill();
    await sleep(AWAY_MS);
    const away = await Promise.all(players.map((player) => player.position()));
    await broadcast.publish();
    await sleep(AFTER_MS);
    const faults: string[] = [];
    for (const [index, player] of players.entries()) {
      const stallMs = await player.takeLongestStallMs();
      const [from = 0, then = 0, now] = [before[index], away[index], await player.position()];
      table.push(`| ${player.name} | ${rungs} | ${(stallMs / 1000).toFixed(1)} s |`);
      if (stallMs > LONGEST_STALL_MS) faults.push(`${player.name} stalled for ${Math.round(stallMs)} ms`);
      if (then - from < (AWAY_MS / 1000) * 0.8) faults.push(`${player.name} played ${then - from} s of the slate`);
      if (now - then < (AFTER_MS / 1000) * 0.6) faults.push(`${player.name} played ${now - then} s behind it`);
    }
    await Promise.all(players.map((player) => player.close()));
    expect(faults).toEqual([]);
    await vi.waitUntil(async () => (await broadcast.now()).status.state === "live", { timeout: 5_000 });
  },
  240_000,
);
