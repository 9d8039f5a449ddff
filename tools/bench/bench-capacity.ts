import { setTimeout as wait } from "node:timers/promises";
import {
  carried,
  type MeasuredCosts,
  MIX_PARTS,
  type Mix,
  type MixPart,
} from "../../apps/server/src/roles/capacity/carried.ts";
import type { LoadProcess } from "../../apps/server/src/roles/capacity/load-process.ts";
import { addLoad, measureCosts } from "../../apps/server/src/roles/capacity/measure-costs.ts";
import { PartProbe } from "../../apps/server/src/roles/capacity/part-probe.ts";
import { costOf } from "../../apps/server/src/roles/capacity/process-cost.ts";
import { serverCost } from "../../apps/server/src/roles/capacity/server-cost.ts";
import { TrialServer, type TrialStream } from "../../apps/server/src/roles/capacity/trial-server.ts";
import type { Row } from "./report.ts";

const LATE_MS = 200;
/** Of the server's one core. Beyond it, publishers alone are not late at once: each turn of the event loop reads more of a stream, so a stream costs less. */
const FULL_CORES = 0.97;
const STEP_MS = 8_000;
/** Until the windows of a step's streams are full: as long as they grow into new memory, parts are late on a machine that has CPU left. */
const SETTLE_MS = { streams: 35_000, firstViewers: 20_000, viewers: 4_000 };
/** Of what was predicted. */
const [FROM, STEP, TO] = [0.6, 0.08, 1.5];
/** Server and load each have a core of their own. */
const PINNED = { serverCores: "0", loadCores: "1" };
const MACHINE = { cores: 1, bytes: Number.POSITIVE_INFINITY };

interface Trial {
  readonly name: string;
  readonly mix: Mix;
  /** Runs beside it from the start. */
  readonly ladder: boolean;
}

const TRIALS: readonly Trial[] = [
  { name: "streams alone", mix: { streams: 1, ladders: 0, hlsViewers: 0, whepViewers: 0 }, ladder: false },
  { name: "HLS viewers of one stream", mix: { streams: 0, ladders: 0, hlsViewers: 1, whepViewers: 0 }, ladder: false },
  {
    name: "1 stream to 6 HLS and 2 WebRTC viewers, beside a ladder",
    mix: { streams: 1, ladders: 0, hlsViewers: 6, whepViewers: 2 },
    ladder: true,
  },
];

/** Where a rising load first fills the server's core, and where it first makes one part in ten late. Null if it did not. */
interface Found {
  readonly fullAt: number | null;
  readonly lateAt: number | null;
  readonly most: number;
  /** Of the load, when its steps ended. */
  readonly loadCores: number;
}

/** Whether `weir capacity` predicts where the server's core is used up or parts come 200 ms late: its figure, and where the first of both happens when the load rises in steps. One core for the server, one for the load. */
export async function measurePrediction(only: string | undefined): Promise<Row[]> {
  const costs = await withTrial((trial) =>
    measureCosts({ trial, cores: 1, loadCores: 1, onProgress: () => {}, signal: new AbortController().signal }),
  );
  for (const [part, { count, cost, lateMs }] of Object.entries(costs.parts))
    process.stderr.write(
      `${part}: measured with ${count}, ${(cost.cores * 1000).toFixed(2)} thousandths of a core each, ${Math.round(lateMs)} ms late\n`,
    );
  const rows: Row[] = [];
  for (const { name, mix, ladder } of TRIALS.filter((_, nth) => only === undefined || only === String(nth))) {
    const { times } = carried(mix, ladder ? besideLadder(costs) : costs, MACHINE);
    const { fullAt, lateAt, most, loadCores } = await withTrial((trial) => rise(trial, mix, ladder, times));
    const found = Math.min(fullAt ?? most, lateAt ?? most);
    rows.push(
      { what: `${name}: predicted`, value: times, unit: "" },
      {
        what: `${name}: the server's core is full at${fullAt === null ? " more than" : ""}`,
        value: fullAt ?? most,
        unit: "",
      },
      {
        what: `${name}: parts are 200 ms late at${lateAt === null ? " more than" : ""}`,
        value: lateAt ?? most,
        unit: "",
      },
      { what: `${name}: the load's own core then`, value: loadCores, unit: "cores" },
      { what: `${name}: predicted to the first of both`, value: times / found, unit: "times" },
    );
  }
  return rows;
}

function besideLadder({ idle, each }: MeasuredCosts): MeasuredCosts {
  const { ladders } = each;
  return {
    each,
    idle: {
      cores: idle.cores + ladders.cores,
      mainThread: idle.mainThread + ladders.mainThread,
      webrtcThread: idle.webrtcThread,
      bytes: idle.bytes + ladders.bytes,
    },
  };
}

/** More and more of the mix, until one part in ten is late. `predicted` is the number of mixes that `weir capacity` names. */
async function rise(trial: TrialServer, mix: Mix, hasLadder: boolean, predicted: number): Promise<Found> {
  const [stage] = await trial.createStreams(hasLadder ? "ladders" : "streams", 1);
  if (!stage) throw new Error("there is no stream");
  const publisher = trial.newLoad();
  await publisher.order({ type: "publish", urls: [stage.publishUrl] });
  const probes = [await PartProbe.start(stage.hlsUrl)];
  if (hasLadder) probes.push(await PartProbe.start(stage.hlsUrl, "v0"));
  const loads = new Map<MixPart, LoadProcess>(
    MIX_PARTS.filter((part) => mix[part] > 0).map((part) => [part, trial.newLoad()]),
  );
  try {
    await wait(hasLadder ? 15_000 : 5_000);
    for (const probe of probes) probe.settle();
    let last = 0;
    let fullAt: number | null = null;
    let loadCores = 0;
    for (let share = FROM; share < TO; share += STEP) {
      const target = Math.max(last + 1, Math.round(predicted * share));
      await more(trial, loads, mix, stage, last, target);
      await wait(settleMs(mix, share === FROM));
      for (const probe of probes) probe.lateness();
      const before = [...loads.values()].map(({ pid }) => costOf([pid]).cpuSeconds);
      const { cores: serverCores } = await serverCost(trial.pid, () => wait(STEP_MS));
      const late = Math.max(...probes.map((probe) => probe.lateness()));
      const used = [...loads.values()].map(({ pid }, nth) => costOf([pid]).cpuSeconds - (before[nth] ?? 0));
      loadCores = (used.reduce((sum, one) => sum + one, 0) * 1000) / STEP_MS;
      process.stderr.write(
        `${target} of ${predicted.toFixed(1)}: ${Math.round(late)} ms late, server ${serverCores.toFixed(2)} cores, load ${loadCores.toFixed(2)}\n`,
      );
      const between = last === 0 ? target : (last + target) / 2;
      if (serverCores >= FULL_CORES) fullAt ??= between;
      if (late > LATE_MS) return { fullAt, lateAt: between, most: target, loadCores };
      last = target;
    }
    return { fullAt, lateAt: null, most: last, loadCores };
  } finally {
    await Promise.all(probes.map((probe) => probe.stop()));
  }
}

function settleMs({ streams }: Mix, isFirst: boolean): number {
  if (streams > 0) return SETTLE_MS.streams;
  return isFirst ? SETTLE_MS.firstViewers : SETTLE_MS.viewers;
}

async function more(
  trial: TrialServer,
  loads: ReadonlyMap<MixPart, LoadProcess>,
  mix: Mix,
  stage: TrialStream,
  from: number,
  to: number,
): Promise<void> {
  for (const [part, load] of loads) await addLoad(trial, load, part, stage, mix[part] * (to - from));
}

async function withTrial<Result>(work: (trial: TrialServer) => Promise<Result>): Promise<Result> {
  const trial = await TrialServer.start(PINNED);
  try {
    return await work(trial);
  } finally {
    await trial.stop();
  }
}
