import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import type { Clip } from "../../apps/server/src/roles/capacity/clip.ts";
import { fetchBytes, videoPlaylistUrl } from "../../apps/server/src/roles/capacity/hls-reader.ts";
import { cpuDuring } from "../../apps/server/src/roles/capacity/process-cost.ts";
import { RtmpSender } from "../../apps/server/src/roles/capacity/rtmp-sender.ts";
import { measureGate } from "./bench-gate.ts";
import type { BenchServer } from "./bench-server.ts";
import type { FloorBodies } from "./floor-server.ts";
import { load } from "./load.ts";
import { median, type Row } from "./report.ts";

const CONNECTIONS = 16;
const SECONDS = 2;
const ROUNDS = 5;

/** CPU cost of viewers, compared with a bare Node server; and of gated content, compared with public content. */
export async function measureDelivery(server: BenchServer, clip: Clip): Promise<Row[]> {
  return [...(await measureBytes(server, clip)), ...(await measureGate(server, clip))];
}

/** CPU cost of a playlist and of a segment, compared with a bare Node server that sends the same bytes. */
async function measureBytes(server: BenchServer, clip: Clip): Promise<Row[]> {
  const { publishUrl, hlsUrl } = await server.createStream("delivery");
  const sender = await RtmpSender.start(publishUrl, clip);
  const floor = fork(new URL("./floor-server.ts", import.meta.url), { stdio: "inherit" });
  try {
    await wait(5000);
    const playlistUrl = await videoPlaylistUrl(hlsUrl);
    const playlist = (await fetchBytes(playlistUrl)).body.toString();
    const segment = (await fetchBytes(new URL(newestSegment(playlist), playlistUrl).href)).body;
    const bodies: FloorBodies = { playlist, segment: segment.toString("base64") };
    floor.send(bodies);
    const [port] = (await once(floor, "message")) as [number];
    const floorPid = floor.pid ?? 0;

    const perRequest = { weir: [] as number[], floor: [] as number[] };
    const perGigabyte = { weir: [] as number[], floor: [] as number[] };
    for (let round = 0; round < ROUNDS; round++) {
      const fresh = (await fetchBytes(playlistUrl)).body.toString();
      const segmentUrl = new URL(newestSegment(fresh), playlistUrl).href;
      // CPU that packaging takes in the meantime is measured separately and subtracted.
      const background = (await cpuDuring([server.pid], () => wait(1000))) * SECONDS;
      perRequest.weir.push((await cost(server.pid, playlistUrl, background)).perRequestUs);
      perRequest.floor.push((await cost(floorPid, `http://127.0.0.1:${port}/playlist`, 0)).perRequestUs);
      perGigabyte.weir.push((await cost(server.pid, segmentUrl, background)).perGigabyteSeconds);
      perGigabyte.floor.push((await cost(floorPid, `http://127.0.0.1:${port}/segment`, 0)).perGigabyteSeconds);
    }
    const rows = (what: string, unit: string, { weir, floor: least }: { weir: number[]; floor: number[] }): Row[] => [
      { what: `${what}: weir`, value: median(weir), unit },
      { what: `${what}: bare Node, same bytes`, value: median(least), unit },
      {
        what: `${what}: weir to bare Node, median of the rounds`,
        value: median(weir.map((value, round) => value / (least[round] ?? Number.NaN))),
        unit: "times",
      },
    ];
    return [
      ...rows("live playlist, CPU per request", "µs", perRequest),
      ...rows(`segment of ${Math.round(segment.byteLength / 1000)} kB, CPU per GB`, "s", perGigabyte),
    ];
  } finally {
    floor.disconnect();
    await sender.stop();
  }
}

/** `backgroundSeconds` is the CPU that the process would have used without the requests. */
async function cost(pid: number, url: string, backgroundSeconds: number) {
  let done = { requests: 0, bytes: 0 };
  const cpu = await cpuDuring([pid], async () => {
    done = await load(url, CONNECTIONS, SECONDS);
  });
  const own = Math.max(0, cpu - backgroundSeconds);
  return { perRequestUs: (own / done.requests) * 1e6, perGigabyteSeconds: own / (done.bytes / 1e9) };
}

export function newestSegment(playlist: string): string {
  const segment = [...playlist.matchAll(/^\d+\.m4s$/gm)].at(-1)?.[0];
  if (!segment) throw new Error("the playlist has no segment yet");
  return segment;
}
