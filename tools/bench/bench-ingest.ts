import { setTimeout as wait } from "node:timers/promises";
import type { Clip } from "../../apps/server/src/roles/capacity/clip.ts";
import { costOf, cpuDuring, processTree } from "../../apps/server/src/roles/capacity/process-cost.ts";
import { RtmpSender } from "../../apps/server/src/roles/capacity/rtmp-sender.ts";
import type { BenchServer } from "./bench-server.ts";
import type { Row } from "./report.ts";
import type { SrtSenders } from "./srt-senders.ts";

/** Memory is meaningful once the live window is full, including the segments that already left the playlist. */
const SETTLE_SECONDS = 32;
const STAGGER_MS = 50;
/** What a server still does after its start is not what it does when it is idle. */
const STARTED_MS = 10_000;

/** A server to measure: its process, and the URL to publish stream `n` to. */
export interface IngestTarget {
  readonly name: string;
  readonly pid: number;
  publishUrl(n: number): Promise<string>;
  /** Publishes there; over RTMP if absent. */
  start?(url: string): Promise<Pick<RtmpSender, "isOpen" | "stop">>;
}

export function weirTarget(server: BenchServer): IngestTarget {
  return {
    name: "weir",
    pid: server.pid,
    publishUrl: async (n) => (await server.createStream(`ingest ${n}`)).publishUrl,
  };
}

export function srtTarget(server: BenchServer, senders: SrtSenders): IngestTarget {
  return {
    name: "weir over SRT",
    pid: server.pid,
    publishUrl: async (n) => `${server.srtUrl}?streamid=${(await server.createStream(`ingest ${n}`)).streamKey}`,
    start: (url) => senders.start(url),
  };
}

/** Parses `NAME=rtmp-url,pid`; `{n}` in the URL stands for the stream's number. Throws for any host other than loopback. */
export function peerTarget(text: string): IngestTarget {
  const [, name, url, pid] = /^([\w-]+)=(rtmp:[^,]+),(\d+)$/.exec(text) ?? [];
  if (!name || !url || !pid) throw new Error(`--peer ${text}: give NAME=rtmp://127.0.0.1:port/app/{n},pid`);
  if (!/^(127\.0\.0\.1|localhost|\[::1\])$/.test(new URL(url).hostname))
    throw new Error(`--peer ${name}: loopback only`);
  return { name, pid: Number(pid), publishUrl: async (n) => url.replace("{n}", `bench${process.pid}n${n}`) };
}

/** CPU and memory per stream with `count` publishers, with packaging, without viewers and recording. */
export async function measureIngest(target: IngestTarget, clip: Clip, count: number, seconds: number): Promise<Row[]> {
  await wait(STARTED_MS);
  const pids = processTree(target.pid);
  const idle = costOf(pids).pssBytes;
  const idleCpu = (await cpuDuring(pids, () => wait(2000))) / 2;
  const senders: Pick<RtmpSender, "isOpen" | "stop">[] = [];
  try {
    for (let n = 0; n < count; n++) {
      const url = await target.publishUrl(n);
      senders.push(await (target.start?.(url) ?? RtmpSender.start(url, clip)));
      await wait(STAGGER_MS);
    }
    await wait(SETTLE_SECONDS * 1000);
    const whole = processTree(target.pid);
    const startedAt = performance.now();
    const cpu = await cpuDuring(whole, () => wait(seconds * 1000));
    const cores = (cpu * 1000) / (performance.now() - startedAt) - idleCpu;
    const pss = costOf(whole).pssBytes;
    const lost = senders.filter(({ isOpen }) => !isOpen).length;
    if (lost > 0) throw new Error(`${target.name} closed ${lost} of ${count} publishers`);
    const what = `${target.name}, ${count} ${count === 1 ? "stream" : "streams"}`;
    return [
      { what: `CPU per stream: ${what}`, value: (cores * 1000) / count, unit: "thousandths of a core" },
      { what: `PSS per stream: ${what}`, value: (pss - idle) / count / 1e6, unit: "MB" },
      { what: `PSS in all: ${what}`, value: pss / 1e6, unit: "MB" },
    ];
  } finally {
    await Promise.all(senders.map((sender) => sender.stop()));
  }
}
