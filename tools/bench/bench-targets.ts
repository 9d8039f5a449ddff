import { fork } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Clip } from "../../apps/server/src/roles/capacity/clip.ts";
import { cpuDuring } from "../../apps/server/src/roles/capacity/process-cost.ts";
import { RtmpSender } from "../../apps/server/src/roles/capacity/rtmp-sender.ts";
import type { BenchServer } from "./bench-server.ts";
import type { RelayPorts } from "./relay-floor.ts";
import { median, type Row } from "./report.ts";
import { RtmpSink } from "./rtmp-sink.ts";

const FLOOR = fileURLToPath(new URL("./relay-floor.ts", import.meta.url));
/** The cost for one stream is smaller than the noise of the server's other work. */
const STREAMS = 5;
const TARGETS = 10;
const ROUNDS = 4;
const WATCHED_MS = 5_000;
const SETTLE_MS = 1_500;
/** A new process first compiles its code. */
const WARM_UP_MS = 15_000;
const ONLINE_WITHIN_MS = 30_000;

/** A process whose forwarding can be switched on and off. */
interface Forwarder extends AsyncDisposable {
  readonly pid: number;
  turn(isOn: boolean): Promise<void>;
}

/**
 * CPU of forwarding each stream to ten RTMP targets, compared with a bare Node process that forwards the same bytes to ten sockets. They are
 * measured alternately, so that background load affects both equally.
 */
export async function measureTargets(server: BenchServer, clip: Clip): Promise<Row[]> {
  await using weir = await forwardingServer(server, clip);
  await using relay = await relayProcess(clip);
  const costs: [weir: number[], relay: number[]] = [[], []];
  for (const forwarder of [weir, relay]) {
    await forwarder.turn(true);
    await wait(WARM_UP_MS);
    await forwarder.turn(false);
  }
  for (let round = 0; round < ROUNDS; round++) {
    costs[0].push(await costOfForwarding(weir));
    costs[1].push(await costOfForwarding(relay));
  }
  const [targets, relaying] = costs.map((list) => median(list) / STREAMS) as [number, number];
  return [
    { what: `CPU of ${TARGETS} RTMP targets`, value: targets * 1000, unit: "thousandths of a core" },
    {
      what: `CPU of relaying to ${TARGETS} sockets in bare Node`,
      value: relaying * 1000,
      unit: "thousandths of a core",
    },
    { what: "RTMP targets to relaying", value: targets / relaying, unit: "" },
  ];
}

async function forwardingServer(server: BenchServer, clip: Clip): Promise<Forwarder> {
  const sink = await RtmpSink.start();
  const { streams, targets } = server.client;
  const senders: RtmpSender[] = [];
  const streamIds: string[] = [];
  const targetIds: string[] = [];
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
  return {
    pid: server.pid,
    async turn(isOn) {
      for (const target of targetIds) await targets.patch(target, { disabled: !isOn });
      await until(async () => {
        const shown = await Promise.all(streamIds.map((id) => streams.get(id)));
        const states = shown.flatMap(({ multistream }) => multistream.targets.map(({ status }) => status.state));
        const count = isOn ? TARGETS * STREAMS : 0;
        return sink.count === count && states.every((state) => state === (isOn ? "Online" : "Idle"));
      });
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(senders.map((sender) => sender.stop()));
      await sink.stop();
    },
  };
}

async function relayProcess(clip: Clip): Promise<Forwarder> {
  const child = fork(FLOOR);
  const [ports] = (await once(child, "message")) as [RelayPorts];
  const senders: RtmpSender[] = [];
  for (let n = 0; n < STREAMS; n++) senders.push(await RtmpSender.startRaw(ports.in, clip));
  let sinks: Socket[] = [];
  const drop = () => {
    for (const socket of sinks.splice(0)) socket.destroy();
  };
  return {
    pid: child.pid ?? 0,
    async turn(isOn) {
      drop();
      if (!isOn) return;
      sinks = Array.from({ length: TARGETS * STREAMS }, () => connect(ports.out, "127.0.0.1").resume());
      await Promise.all(sinks.map((socket) => once(socket, "connect")));
    },
    async [Symbol.asyncDispose]() {
      drop();
      await Promise.all(senders.map((sender) => sender.stop()));
      child.kill();
    },
  };
}

/** Additional cores that a process uses while it forwards, compared with right after. */
async function costOfForwarding({ pid, turn }: Forwarder): Promise<number> {
  await turn(true);
  const on = await cores(pid);
  await turn(false);
  return on - (await cores(pid));
}

async function cores(pid: number): Promise<number> {
  // Excludes the database writes for the changed targets.
  await wait(SETTLE_MS);
  const startedAt = performance.now();
  const cpu = await cpuDuring([pid], () => wait(WATCHED_MS));
  return (cpu * 1000) / (performance.now() - startedAt);
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + ONLINE_WITHIN_MS;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error("the targets did not come online or go offline in time");
    await wait(200);
  }
}
