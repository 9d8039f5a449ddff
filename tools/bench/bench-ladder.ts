import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import type { Clip } from "../../apps/server/src/roles/capacity/clip.ts";
import { fetchBytes, newestPart, videoPlaylistUrl } from "../../apps/server/src/roles/capacity/hls-reader.ts";
import { costOf, processTree } from "../../apps/server/src/roles/capacity/process-cost.ts";
import { RtmpSender } from "../../apps/server/src/roles/capacity/rtmp-sender.ts";
import { watch } from "./bench-player.ts";
import type { BenchServer, Profiles } from "./bench-server.ts";
import { median, percentile, type Row } from "./report.ts";

export const PROFILES: Profiles = [
  { name: "480p0", width: 854, height: 480, bitrate: 1_600_000, fps: 0 },
  { name: "360p0", width: 640, height: 360, bitrate: 800_000, fps: 0 },
];
const RUNGS = ["v0", "v1"];
const SETTLED_MS = 3000;
/** More than any test machine can run. */
const MAX_LADDERS = 40;

/** Watches a ladder of two rungs for `seconds`: delay of the rungs behind the source, gaps, playback, CPU. */
export async function measureLadder(server: BenchServer, clip: Clip, seconds: number): Promise<Row[]> {
  const { publishUrl, hlsUrl } = await server.createStream("ladder", PROFILES);
  const sender = await RtmpSender.start(publishUrl, clip);
  try {
    const playlists = await playlistsOf(hlsUrl);
    await wait(SETTLED_MS);
    const until = performance.now() + seconds * 1000;
    const transcoder = processTree(server.pid).filter(isTranscoder);
    const before = costOf(transcoder).cpuSeconds;
    const [player, ofSource, ...ofRungs] = await Promise.all([
      watch(hlsUrl, seconds),
      ...playlists.map((url) => followParts(url, until)),
    ]);
    const cpu = (costOf(transcoder).cpuSeconds - before) / seconds;
    const lags = lagsOf(ofSource, ofRungs);
    return [
      { what: "ladder, part of a rung listed after the source's, median", value: median(lags), unit: "ms" },
      {
        what: "ladder, part of a rung listed after the source's, p99",
        value: percentile(lags, 0.99),
        unit: "ms",
      },
      { what: "ladder, part of a rung listed after the source's, worst", value: Math.max(...lags), unit: "ms" },
      { what: "ladder, gaps in all rungs", value: ofRungs.reduce((sum, { gaps }) => sum + gaps, 0), unit: "" },
      { what: "ladder, hls.js, picture behind its arrival, median", value: median(player.behind), unit: "ms" },
      { what: "ladder, hls.js, stalls", value: player.stalls, unit: "" },
      { what: "ladder, CPU of its transcoder", value: cpu, unit: "cores" },
    ];
  } finally {
    await sender.stop();
  }
}

/** Starts ladders until one is refused. The refused stream plays its source only, and the running ladders must not degrade. */
export async function measureFullMachine(server: BenchServer, clip: Clip, seconds: number): Promise<Row[]> {
  const senders: RtmpSender[] = [];
  try {
    const running: string[][] = [];
    for (let count = 1; count <= MAX_LADDERS; count++) {
      const { id, publishUrl, hlsUrl } = await server.createStream(`ladder ${count}`, PROFILES);
      senders.push(await RtmpSender.start(publishUrl, clip));
      const playlists = await playlistsOf(hlsUrl);
      await wait(SETTLED_MS);
      const [refusal] = (await server.client.streams.get(id)).issues ?? [];
      if (refusal !== undefined) {
        process.stdout.write(`${refusal}\n`);
        break;
      }
      running.push(playlists);
    }
    const until = performance.now() + seconds * 1000;
    const watched = await Promise.all(
      running.map((playlists) => Promise.all(playlists.map((url) => followParts(url, until)))),
    );
    const lags = watched.flatMap(([ofSource, ...ofRungs]) => lagsOf(ofSource, ofRungs));
    const gaps = watched.flat().reduce((sum, { gaps: some }) => sum + some, 0);
    return [
      { what: "full machine, ladders that run", value: running.length, unit: "" },
      { what: "full machine, ladders refused", value: senders.length - running.length, unit: "" },
      { what: "full machine, part of a rung listed after the source's, median", value: median(lags), unit: "ms" },
      { what: "full machine, the same, p99", value: percentile(lags, 0.99), unit: "ms" },
      { what: "full machine, gaps in those that run", value: gaps, unit: "" },
    ];
  } finally {
    for (const sender of senders) await sender.stop();
  }
}

/** URLs of the video playlists of the source and the rungs. */
export async function playlistsOf(hlsUrl: string): Promise<string[]> {
  const source = await videoPlaylistUrl(hlsUrl);
  return ["source", ...RUNGS].map((name) => source.replace("/source/", `/${name}/`));
}

/** Delay of each rung's part after the same part of the source. Parts that only one rendition listed, at the start and end, are skipped. */
function lagsOf(ofSource: Followed | undefined, ofRungs: readonly Followed[]): number[] {
  return ofRungs
    .flatMap(({ parts }) => Array.from(parts, ([name, at]) => at - (ofSource?.parts.get(name) ?? Number.NaN)))
    .filter((lag) => !Number.isNaN(lag));
}

interface Followed {
  readonly parts: ReadonlyMap<string, number>;
  readonly gaps: number;
}

/** When each part of a rendition was first listed, from blocking playlist requests, and the number of gaps. */
async function followParts(url: string, until: number): Promise<Followed> {
  const parts = new Map<string, number>();
  const gaps = new Set<string>();
  let next = newestPart((await fetchBytes(url)).body.toString());
  while (performance.now() < until) {
    const { body, at } = await fetchBytes(`${url}?_HLS_msn=${next.msn}&_HLS_part=${next.nextPart}`);
    const playlist = body.toString();
    next = newestPart(playlist);
    parts.set(next.uri, at);
    for (const [, msn = ""] of playlist.matchAll(/#EXT-X-GAP\n(?:#[^\n]*\n)*(\d+)\.m4s/g)) gaps.add(msn);
  }
  return { parts, gaps: gaps.size };
}

function isTranscoder(pid: number): boolean {
  return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("transcode-child.ts");
}
