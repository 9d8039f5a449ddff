import { setTimeout as sleep } from "node:timers/promises";
import { carried, type MeasuredCosts, type MixPart, only, type PartCost } from "./carried.ts";
import type { LoadOrder, LoadProcess } from "./load-process.ts";
import { PartProbe } from "./part-probe.ts";
import { costOf } from "./process-cost.ts";
import { costOfEach, type ServerCost, serverCost } from "./server-cost.ts";
import type { TrialServer, TrialStream } from "./trial-server.ts";

/** A cost is taken where it is about half of what there is: per stream or viewer, less load costs more. */
const AIM = 0.5;
/** Of a load process's core. Beyond it, the load would come too late. */
const LOAD_AIM = 0.6;
const MS = { idle: 3_000, look: 4_000, measure: 10_000, calm: 4_000 } as const;
/** Looks after the first, while one asks for so many times more. */
const MOST_LOOKS = 3;
const ENOUGH_MORE = 1.5;
/** Until what the first seconds cost is over: a live window fills, code is compiled. */
const SETTLE_MS: Readonly<Record<MixPart, number>> = {
  streams: 30_000,
  ladders: 10_000,
  hlsViewers: 5_000,
  whepViewers: 5_000,
};
const FIRST: Readonly<Record<MixPart, number>> = { streams: 20, ladders: 1, hlsViewers: 60, whepViewers: 20 };
const MOST: Readonly<Record<MixPart, number>> = { streams: 600, ladders: 16, hlsViewers: 3_000, whepViewers: 600 };

export interface CostOptions {
  readonly trial: TrialServer;
  readonly cores: number;
  /** Cores that the load may use. */
  readonly loadCores: number;
  readonly onProgress: (what: string, fraction: number) => void;
  readonly signal: AbortSignal;
}

/** A measured cost, and with how many it was measured. */
export interface MeasuredPart {
  readonly cost: PartCost;
  readonly count: number;
  /** How late one part in ten came then, in ms. */
  readonly lateMs: number;
}

export interface Measurement extends MeasuredCosts {
  readonly parts: Readonly<Record<MixPart, MeasuredPart>>;
}

/** Measures what each kind of work costs this server. Takes three to six minutes. Throws if the load cannot be made, or `signal` is aborted. */
export async function measureCosts(options: CostOptions): Promise<Measurement> {
  const { trial, onProgress, signal } = options;
  const pause = (ms: number) => sleep(ms, undefined, { signal });
  const [stage] = await trial.createStreams("streams", 1);
  if (!stage) throw new Error("there is no stream");
  const publisher = trial.newLoad();
  await publisher.order({ type: "publish", urls: [stage.publishUrl] });
  const probe = await PartProbe.start(stage.hlsUrl);
  try {
    await pause(MS.calm);
    probe.settle();
    const idle = await serverCost(trial.pid, () => pause(MS.idle));
    const parts: Partial<Record<MixPart, MeasuredPart>> = {};
    // WebRTC viewers last: for a while the server goes on sending to those that are gone.
    const order: readonly MixPart[] = ["streams", "hlsViewers", "ladders", "whepViewers"];
    for (const [done, part] of order.entries()) {
      onProgress(NAMES[part], done / order.length);
      parts[part] = await measurePart(part, stage, probe, options, pause);
      await pause(MS.calm);
    }
    const all = parts as Record<MixPart, MeasuredPart>;
    const each = Object.fromEntries(order.map((part) => [part, all[part].cost])) as Record<MixPart, PartCost>;
    return { idle, each, parts: all };
  } finally {
    await probe.stop();
    await trial.end(publisher);
  }
}

const NAMES: Readonly<Record<MixPart, string>> = {
  streams: "measuring streams",
  ladders: "measuring ladders",
  hlsViewers: "measuring HLS viewers",
  whepViewers: "measuring WebRTC viewers",
};

type Pause = (ms: number) => Promise<void>;

async function measurePart(
  part: MixPart,
  stage: TrialStream,
  probe: PartProbe,
  { trial, cores, loadCores }: CostOptions,
  pause: Pause,
): Promise<MeasuredPart> {
  const before = await serverCost(trial.pid, () => pause(MS.idle));
  const load = trial.newLoad();
  try {
    const look = async (ms: number, count: number) => {
      const loadBefore = costOf([load.pid]).cpuSeconds;
      const cost = costOfEach(before, await serverCost(trial.pid, () => pause(ms)), count);
      return { cost, loadEach: ((costOf([load.pid]).cpuSeconds - loadBefore) * 1000) / ms / count };
    };
    let count = FIRST[part];
    await addLoad(trial, load, part, stage, count);
    await pause(part === "ladders" ? SETTLE_MS.ladders : MS.calm);
    let seen = await look(MS.look, count);
    // Few cost more each than many, and more as they start: a look at more is asked again how many there should be.
    for (let looks = 0; looks < MOST_LOOKS; looks++) {
      const next = nextCount(part, count, seen.cost, seen.loadEach, { cores, loadCores, before });
      if (looks > 0 && next < ENOUGH_MORE * count) break;
      if (next > count) await addLoad(trial, load, part, stage, next - count);
      count = next;
      await pause(SETTLE_MS[part]);
      probe.lateness();
      seen = await look(MS.measure, count);
    }
    const { failures } = await load.order({ type: "counts" });
    if (failures.length > 0)
      throw new Error(
        `${failures.length} of ${count} ${NAMES[part].replace("measuring ", "")} ended early: ${failures[0]}`,
      );
    const lateMs = Math.max(0, probe.lateness());
    // Publishers do not wait for each other: with them, parts are late when the CPU is used up.
    const lateEach = part === "hlsViewers" ? lateMs / count : 0;
    return { cost: { ...seen.cost, lateMs: lateEach }, count, lateMs };
  } finally {
    await trial.end(load);
  }
}

/** With how many to measure, after a first look. */
function nextCount(
  part: MixPart,
  first: number,
  each: ServerCost,
  loadEach: number,
  { cores, loadCores, before }: { cores: number; loadCores: number; before: ServerCost },
): number {
  const one = { ...each, lateMs: 0 };
  const costs = { idle: before, each: { streams: one, ladders: one, hlsViewers: one, whepViewers: one } };
  const { times } = carriedBy(part, costs, cores);
  const loadable = (LOAD_AIM * Math.min(1, loadCores)) / Math.max(loadEach, 1e-6);
  return Math.max(first, Math.floor(Math.min(times * AIM, loadable, MOST[part])));
}

const carriedBy = (part: MixPart, costs: MeasuredCosts, cores: number) =>
  carried(only(part), costs, { cores, bytes: Number.POSITIVE_INFINITY });

/** Lets `load` publish or watch so many more. */
export async function addLoad(
  trial: TrialServer,
  load: LoadProcess,
  part: MixPart,
  stage: TrialStream,
  count: number,
): Promise<void> {
  await load.order(await orderOf(trial, part, stage, count));
}

async function orderOf(trial: TrialServer, part: MixPart, stage: TrialStream, count: number): Promise<LoadOrder> {
  if (part === "hlsViewers") return { type: "watch", url: stage.hlsUrl, count };
  if (part === "whepViewers") return { type: "whep", url: stage.whepUrl, count };
  const streams = await trial.createStreams(part, count);
  return { type: "publish", urls: streams.map(({ publishUrl }) => publishUrl) };
}
