import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { watch } from "./bench-player.ts";
import type { BenchServer, Profiles } from "./bench-server.ts";
import type { Clip } from "./clip.ts";
import { fetchBytes, newestPart, videoPlaylistUrl } from "./hls-reader.ts";
import { costOf, processTree } from "./process-cost.ts";
import { median, type Row } from "./report.ts";
import { RtmpSender } from "./rtmp-sender.ts";

const PROFILES: Profiles = [
  { name: "480p0", width: 854, height: 480, bitrate: 1_600_000, fps: 0 },
  { name: "360p0", width: 640, height: 360, bitrate: 800_000, fps: 0 },
];
const RUNGS = ["v0", "v1"];

/** A ladder of two rungs, watched for `seconds`: how far the rungs are behind the source, gaps, what a viewer sees, what it costs. */
export async function measureLadder(server: BenchServer, clip: Clip, seconds: number): Promise<Row[]> {
  const { publishUrl, hlsUrl } = await server.createStream("ladder", PROFILES);
  const sender = await RtmpSender.start(publishUrl, clip);
  try {
    const source = await videoPlaylistUrl(hlsUrl);
    const playlists = ["source", ...RUNGS].map((name) => source.replace("/source/", `/${name}/`));
    await wait(3000);
    const until = performance.now() + seconds * 1000;
    const transcoder = processTree(server.pid).filter(isTranscoder);
    const before = costOf(transcoder).cpuSeconds;
    const [player, ofSource, ...ofRungs] = await Promise.all([
      watch(hlsUrl, seconds),
      ...playlists.map((url) => followParts(url, until)),
    ]);
    const cpu = (costOf(transcoder).cpuSeconds - before) / seconds;
    const lags = ofRungs.flatMap(({ parts }) =>
      Array.from(parts, ([name, at]) => at - (ofSource?.parts.get(name) ?? Number.NaN)),
    );
    // The first and the last part may be known of one rendition alone.
    const known = lags.filter((lag) => !Number.isNaN(lag));
    return [
      { what: "ladder, part of a rung listed after the source's, median", value: median(known), unit: "ms" },
      { what: "ladder, part of a rung listed after the source's, worst", value: Math.max(...known), unit: "ms" },
      { what: "ladder, gaps in all rungs", value: ofRungs.reduce((sum, { gaps }) => sum + gaps, 0), unit: "" },
      { what: "ladder, hls.js, picture behind its arrival, median", value: median(player.behind), unit: "ms" },
      { what: "ladder, hls.js, stalls", value: player.stalls, unit: "" },
      { what: "ladder, CPU of its transcoder", value: cpu, unit: "cores" },
    ];
  } finally {
    await sender.stop();
  }
}

/** When each part of a rendition was first listed, asked for in requests that wait; and how many gaps there were. */
async function followParts(url: string, until: number): Promise<{ parts: Map<string, number>; gaps: number }> {
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
