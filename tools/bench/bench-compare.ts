import { resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { costPerGigabyte, costPerRequest, newestSegment } from "./bench-delivery.ts";
import { measureIngest, weirTarget } from "./bench-ingest.ts";
import { type BenchServer, withDataFolder, withServer } from "./bench-server.ts";
import type { Clip } from "./clip.ts";
import { fetchBytes, videoPlaylistUrl } from "./hls-reader.ts";
import { median, type Row } from "./report.ts";
import { RtmpSender } from "./rtmp-sender.ts";

const STREAMS = 50;
const SECONDS = 10;
const LISTED_AFTER_MS = 8_000;

/** `part` is what `--only` calls it. */
const MEASURES = {
  "live playlist, CPU per request": {
    part: "delivery",
    unit: "µs",
    measure: (server: BenchServer, clip: Clip) => ofPlaylist(server, clip),
  },
  "segment, CPU per GB": {
    part: "delivery",
    unit: "s",
    measure: (server: BenchServer, clip: Clip) => ofSegment(server, clip),
  },
  [`${STREAMS} publishers, CPU per stream`]: {
    part: "ingest",
    unit: "thousandths of a core",
    measure: async (server: BenchServer, clip: Clip) =>
      (await measureIngest(weirTarget(server), clip, STREAMS, SECONDS))[0]?.value ?? Number.NaN,
  },
} as const;

/** This checkout and the one in `against`, in turns on one machine, so that what else the machine does falls on both. */
export async function compareVersions(
  clip: Clip,
  { against, rounds, parts }: { against: string; rounds: number; parts: ReadonlySet<string> },
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [what, { part, unit, measure }] of Object.entries(MEASURES)) {
    if (!parts.has(part)) continue;
    const [here, there]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      const turns = [
        async () => here.push(await onFreshServer((server) => measure(server, clip))),
        async () => there.push(await onFreshServer((server) => measure(server, clip), resolve(against))),
      ];
      for (const turn of round % 2 === 0 ? turns : turns.reverse()) await turn();
    }
    const ratios = here.map((value, round) => value / (there[round] ?? Number.NaN));
    rows.push(
      { what: `${what}: this version`, value: median(here), unit },
      { what: `${what}: the other version`, value: median(there), unit },
      { what: `${what}: median of ${rounds} ratios`, value: median(ratios), unit: "times" },
      { what: `${what}: worst ratio`, value: Math.max(...ratios), unit: "times" },
    );
  }
  return rows;
}

function onFreshServer(work: (server: BenchServer) => Promise<number>, root?: string): Promise<number> {
  return withDataFolder((folder) => withServer(folder, work, root));
}

async function ofPlaylist(server: BenchServer, clip: Clip): Promise<number> {
  return whileLive(server, clip, (playlistUrl) => costPerRequest(server.pid, playlistUrl));
}

async function ofSegment(server: BenchServer, clip: Clip): Promise<number> {
  return whileLive(server, clip, async (playlistUrl) => {
    const playlist = (await fetchBytes(playlistUrl)).body.toString();
    return costPerGigabyte(server.pid, new URL(newestSegment(playlist), playlistUrl).href);
  });
}

async function whileLive(
  server: BenchServer,
  clip: Clip,
  measure: (playlistUrl: string) => Promise<number>,
): Promise<number> {
  const { publishUrl, hlsUrl } = await server.createStream("compared");
  const sender = await RtmpSender.start(publishUrl, clip);
  try {
    await wait(LISTED_AFTER_MS);
    return await measure(await videoPlaylistUrl(hlsUrl));
  } finally {
    await sender.stop();
  }
}
