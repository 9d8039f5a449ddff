import { fork } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { BenchServer } from "./bench-server.ts";
import type { Clip } from "./clip.ts";
import { cpuDuring } from "./process-cost.ts";
import type { RelayPorts } from "./relay-floor.ts";
import { median, type Row } from "./report.ts";
import { RtmpSender } from "./rtmp-sender.ts";
import { RtmpSink } from "./rtmp-sink.ts";

const FLOOR = fileURLToPath(new URL("./relay-floor.ts", import.meta.url));
/** One alone is lost in what else a server does. */
const STREAMS = 5;
const TARGETS = 10;
const ROUNDS = 4;
const WATCHED_MS = 6_000;
const SETTLE_MS = 1_500;
const ONLINE_WITHIN_MS = 30_000;

/** What forwarding each stream to ten RTMP targets costs, beside a bare Node process that forwards the same bytes to ten sockets. */
export async function measureTargets(server: BenchServer, clip: Clip): Promise<Row[]> {
  const weir = (await costOfWeir(server, clip)) / STREAMS;
  const floor = (await costOfRelay(clip)) / STREAMS;
  return [
    { what: `CPU of ${TARGETS} RTMP targets`, value: weir * 1000, unit: "thousandths of a core" },
    { what: `CPU of relaying to ${TARGETS} sockets in bare Node`, value: floor * 1000, unit: "thousandths of a core" },
    { what: "RTMP targets to relaying", value: weir / floor, unit: "" },
  ];
}

async function costOfWeir(server: BenchServer, clip: Clip): Promise<number> {
  const sink = await RtmpSink.start();
  const { streams, targets } = server.client;
  const senders: RtmpSender[] = [];
  const streamIds: string[] = [];
  const targetIds: string[] = [];
  try {
    for (let n = 0; n < TARGETS; n++) {
      const made = await targets.create({ url: `rtmp://127.0.0.1:${sink.port}/live/target-${n}`, disabled: true });
      targetIds.push(made.id);
    }
    for (let n = 0; n < STREAMS; n++) {
      const { id, publishUrl } = await server.createStream(`targets ${n}`);
      const refs = targetIds.map((target) => ({ profile: "source", id: target }));
      await streams.patch(id, { multistream: { targets: refs } });
      streamIds.push(id);
      senders.push(await RtmpSender.start(publishUrl, clip));
    }
    return await differenceOf(server.pid, async (isOn) => {
      for (const target of targetIds) await targets.patch(target, { disabled: !isOn });
      await until(async () => {
        const shown = await Promise.all(streamIds.map((id) => streams.get(id)));
        const states = shown.flatMap(({ multistream }) => multistream.targets.map(({ status }) => status.state));
        const count = isOn ? TARGETS * STREAMS : 0;
        return sink.count === count && states.every((state) => state === (isOn ? "Online" : "Idle"));
      });
    });
  } finally {
    await Promise.all(senders.map((sender) => sender.stop()));
    await sink.stop();
  }
}

async function costOfRelay(clip: Clip): Promise<number> {
  const child = fork(FLOOR);
  const [ports] = (await once(child, "message")) as [RelayPorts];
  const senders: RtmpSender[] = [];
  for (let n = 0; n < STREAMS; n++) senders.push(await RtmpSender.startRaw(ports.in, clip));
  let sinks: ReturnType<typeof connect>[] = [];
  const connectSink = () => connect(ports.out, "127.0.0.1").resume();
  try {
    return await differenceOf(child.pid ?? 0, async (isOn) => {
      for (const socket of sinks) socket.destroy();
      sinks = isOn ? Array.from({ length: TARGETS * STREAMS }, connectSink) : [];
    });
  } finally {
    for (const socket of sinks) socket.destroy();
    await Promise.all(senders.map((sender) => sender.stop()));
    child.kill();
  }
}

/** Cores that the process takes more while something is on than while it is off. */
async function differenceOf(pid: number, turn: (isOn: boolean) => Promise<void>): Promise<number> {
  const differences: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await turn(true);
    const on = await cores(pid);
    await turn(false);
    differences.push(on - (await cores(pid)));
  }
  return median(differences);
}

async function cores(pid: number): Promise<number> {
  await wait(SETTLE_MS);
  const startedAt = performance.now();
  // The database has changes of targets to write, which is not what is asked.
  const cpu = await cpuDuring([pid], () => wait(WATCHED_MS));
  return (cpu * 1000) / (performance.now() - startedAt);
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + ONLINE_WITHIN_MS;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error("the targets did not come online, or not go");
    await wait(200);
  }
}
