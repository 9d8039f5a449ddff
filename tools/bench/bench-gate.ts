import { setTimeout as wait } from "node:timers/promises";
import { signAccessJwt } from "@weir/client";
import type { Clip } from "../../apps/server/src/roles/capacity/clip.ts";
import { fetchBytes, newestPart, videoPlaylistUrl } from "../../apps/server/src/roles/capacity/hls-reader.ts";
import { cpuDuring } from "../../apps/server/src/roles/capacity/process-cost.ts";
import { RtmpSender } from "../../apps/server/src/roles/capacity/rtmp-sender.ts";
import type { BenchServer } from "./bench-server.ts";
import { load } from "./load.ts";
import { median, type Row } from "./report.ts";

const CONNECTIONS = 16;
const SECONDS = 2;
const ROUNDS = 7;

/** Additional CPU of a request for gated content, from two identical streams, one public and one gated, measured alternately. */
export async function measureGate(server: BenchServer, clip: Clip): Promise<Row[]> {
  const open = await server.createStream("public");
  const { streamKey = "", playbackId } = await server.client.streams.create({
    name: "gated",
    profiles: [],
    playbackPolicy: { type: "jwt" },
  });
  const jwt = await signAccessJwt({ ...(await server.client.signingKeys.create()), playbackId });
  const senders = [open.publishUrl, open.publishUrl.replace(open.streamKey, streamKey)];
  const sending = await Promise.all(senders.map((url) => RtmpSender.start(url, clip)));
  try {
    await wait(5000);
    const playlists = {
      open: await videoPlaylistUrl(open.hlsUrl),
      gated: await videoPlaylistUrl(`${server.url}/hls/${playbackId}/index.m3u8?jwt=${jwt}`),
    };
    const rows: Row[] = [];
    for (const what of ["playlist", "part"] as const) {
      const costs = { open: [] as number[], gated: [] as number[] };
      for (let round = 0; round < ROUNDS; round++) {
        // The order alternates, so that drift affects both equally.
        const order = round % 2 === 0 ? (["open", "gated"] as const) : (["gated", "open"] as const);
        for (const which of order) costs[which].push(await costOfOne(server.pid, playlists[which], what));
      }
      const more = costs.gated.map((value, round) => value - (costs.open[round] ?? Number.NaN));
      rows.push(
        { what: `public ${what}, CPU per request`, value: median(costs.open), unit: "µs" },
        { what: `gated ${what}, CPU per request`, value: median(costs.gated), unit: "µs" },
        { what: `gated ${what} more than public, median of ${ROUNDS} rounds`, value: median(more), unit: "µs" },
      );
    }
    return rows;
  } finally {
    await Promise.all(sending.map((sender) => sender.stop()));
  }
}

/** Microseconds of CPU per request, without what packaging takes in the meantime. */
async function costOfOne(pid: number, playlistUrl: string, what: "playlist" | "part"): Promise<number> {
  const playlist = (await fetchBytes(playlistUrl)).body.toString();
  const url = what === "playlist" ? playlistUrl : new URL(newestPart(playlist).uri, playlistUrl).href;
  const background = (await cpuDuring([pid], () => wait(1000))) * SECONDS;
  let requests = 0;
  const cpu = await cpuDuring([pid], async () => {
    requests = (await load(url, CONNECTIONS, SECONDS)).requests;
  });
  return (Math.max(0, cpu - background) / requests) * 1e6;
}
