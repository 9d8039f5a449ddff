import { setTimeout as wait } from "node:timers/promises";
import type { Clip } from "../../apps/server/src/roles/capacity/clip.ts";
import { cpuDuring, processTree } from "../../apps/server/src/roles/capacity/process-cost.ts";
import { RtmpSender } from "../../apps/server/src/roles/capacity/rtmp-sender.ts";
import type { BenchServer } from "./bench-server.ts";
import { median, percentile, type Row } from "./report.ts";

const STREAMS = 50;
const STAGGER_MS = 50;
const SETTLE_MS = 6_000;
/** Slightly more than a thumbnail's lifetime, so that each request needs a new picture. */
const EVERY_MS = 5_050;
const TURN_MS = 2 * EVERY_MS;
const TURNS = 4;

/** CPU of thumbnails of 50 live streams without a ladder, each requested every 5 s, in turns with and without requests. */
export async function measureThumbnails(server: BenchServer, clip: Clip): Promise<Row[]> {
  const senders: RtmpSender[] = [];
  const pictures: string[] = [];
  try {
    for (let n = 0; n < STREAMS; n++) {
      const { publishUrl, hlsUrl } = await server.createStream(`thumbnails ${n}`);
      senders.push(await RtmpSender.start(publishUrl, clip));
      pictures.push(hlsUrl.replace("index.m3u8", "source/latest.jpg"));
      await wait(STAGGER_MS);
    }
    await wait(SETTLE_MS);
    // The first thumbnail starts the child process.
    await get(pictures[0] ?? "");
    const times: number[] = [];
    const cores = { on: [] as number[], off: [] as number[] };
    for (let turn = 0; turn < TURNS * 2; turn++) {
      // On, off, off, on and so on: linear drift cancels out.
      const isOn = turn % 4 === 0 || turn % 4 === 3;
      const turnCores = await coresDuring(server.pid, () => (isOn ? askAll(pictures, times) : wait(TURN_MS)));
      cores[isOn ? "on" : "off"].push(turnCores);
    }
    const lost = senders.filter(({ isOpen }) => !isOpen).length;
    if (lost > 0) throw new Error(`${lost} of ${STREAMS} publishers were closed`);
    const more = cores.on.map((value, nth) => value - (cores.off[nth] ?? Number.NaN));
    const what = `${STREAMS} live streams without a ladder`;
    const inPercent = (values: readonly number[]): number => 100 * median(values);
    return [
      { what: `${what}, without thumbnails`, value: inPercent(cores.off), unit: "% of a core" },
      { what: `${what}, a thumbnail of each every 5 s`, value: inPercent(cores.on), unit: "% of a core" },
      { what: `${what}, thumbnails alone, median of ${TURNS} turns`, value: inPercent(more), unit: "% of a core" },
      { what: `${what}, thumbnails alone, worst turn`, value: 100 * Math.max(...more), unit: "% of a core" },
      { what: "a thumbnail of them, median", value: median(times), unit: "ms" },
      { what: "a thumbnail of them, p99", value: percentile(times, 0.99), unit: "ms" },
    ];
  } finally {
    await Promise.all(senders.map((sender) => sender.stop()));
  }
}

async function coresDuring(pid: number, work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  const cpu = await cpuDuring(processTree(pid), work);
  return (cpu * 1000) / (performance.now() - startedAt);
}

/** Requests each thumbnail twice, spread evenly over the turn. */
async function askAll(pictures: readonly string[], times: number[]): Promise<void> {
  const startedAt = performance.now();
  const asked = Array.from({ length: 2 * pictures.length }, async (_, nth) => {
    await until(startedAt + (nth * EVERY_MS) / pictures.length);
    times.push(await get(pictures[nth % pictures.length] ?? ""));
  });
  await Promise.all(asked);
  await until(startedAt + TURN_MS);
}

const until = (time: number): Promise<void> => wait(Math.max(0, time - performance.now()));

/** Returns the duration of the request in milliseconds. */
async function get(url: string): Promise<number> {
  const startedAt = performance.now();
  const answer = await fetch(url);
  const { byteLength } = await answer.arrayBuffer();
  if (answer.status !== 200 || byteLength < 1000) throw new Error(`${url} answered ${answer.status}`);
  return performance.now() - startedAt;
}
