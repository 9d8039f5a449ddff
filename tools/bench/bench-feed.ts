import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import type { Clip } from "../../apps/server/src/roles/capacity/clip.ts";
import { cpuDuring } from "../../apps/server/src/roles/capacity/process-cost.ts";
import { RtmpSender } from "../../apps/server/src/roles/capacity/rtmp-sender.ts";
import { median, type Row } from "./report.ts";

const STREAMS = 20;
const TARGETS = 10;
const ROUNDS = 5;
const SECONDS = 5;
const STAGGER_MS = 50;
/** Until the slow targets have fallen behind by the maximum and the live windows are full. */
const SETTLE_SECONDS = 40;
const UNIT = "thousandths of a core";

/** CPU that ten slow targets add to a stream, without their sockets, from two processes with the same streams, measured alternately. */
export async function measureFeed(clip: Clip): Promise<Row[]> {
  const alone = startHost(0);
  const forwarded = startHost(TARGETS);
  const senders: RtmpSender[] = [];
  try {
    const ports = [await nextNumber(alone), await nextNumber(forwarded)];
    for (let n = 0; n < STREAMS; n++) {
      for (const port of ports) senders.push(await RtmpSender.start(`rtmp://127.0.0.1:${port}/live/stream${n}`, clip));
      await wait(STAGGER_MS);
    }
    await wait(SETTLE_SECONDS * 1000);
    const rounds: { alone: number; forwarded: number }[] = [];
    for (let round = 0; round < ROUNDS; round++)
      rounds.push({ alone: await costOfStream(alone), forwarded: await costOfStream(forwarded) });
    forwarded.send("dropped");
    if ((await nextNumber(forwarded)) === 0)
      throw new Error("the targets were not slow enough: nothing was left out for them");
    return [
      { what: "CPU of a stream without targets", value: median(rounds.map((round) => round.alone)), unit: UNIT },
      {
        what: `CPU of a stream with ${TARGETS} slow targets`,
        value: median(rounds.map((round) => round.forwarded)),
        unit: UNIT,
      },
      {
        what: `the same, median of ${ROUNDS} ratios`,
        value: median(rounds.map((round) => round.forwarded / round.alone)),
        unit: "times",
      },
    ];
  } finally {
    await Promise.all(senders.map((sender) => sender.stop()));
    for (const host of [alone, forwarded]) if (host.connected) host.disconnect();
  }
}

function startHost(targetsPerStream: number): ChildProcess {
  const host = new URL("../../apps/server/src/media/testing/slow-readers-child.ts", import.meta.url);
  return fork(host, [String(targetsPerStream)], { stdio: "inherit" });
}

async function nextNumber(host: ChildProcess): Promise<number> {
  const [message] = await once(host, "message");
  return Number(message);
}

async function costOfStream({ pid = 0 }: ChildProcess): Promise<number> {
  return ((await cpuDuring([pid], () => wait(SECONDS * 1000))) / SECONDS / STREAMS) * 1000;
}
