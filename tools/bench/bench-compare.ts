import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Clip } from "../../apps/server/src/roles/capacity/clip.ts";
import { fetchBytes, videoPlaylistUrl } from "../../apps/server/src/roles/capacity/hls-reader.ts";
import { cpuDuring, processTree } from "../../apps/server/src/roles/capacity/process-cost.ts";
import { RtmpSender } from "../../apps/server/src/roles/capacity/rtmp-sender.ts";
import { newestSegment } from "./bench-delivery.ts";
import { PROFILES, playlistsOf } from "./bench-ladder.ts";
import { type BenchServer, type ServerOptions, withDataFolder, withServer } from "./bench-server.ts";
import { compareStarts } from "./bench-startup.ts";
import { withCheckout } from "./checkout.ts";
import { LiveViewers } from "./live-viewers.ts";
import { type LoadResult, load } from "./load.ts";
import { median, type Row } from "./report.ts";
import { type Counts, countDuring } from "./server-counts.ts";

/** A median above this, and above the spread of A/A, is slower. */
const LIMIT = 1.05;
/** Beyond this spread of A/A, counts decide. */
const MAX_SPREAD = 0.05;
const COUNTED = 3;

const LISTED_AFTER_MS = 8_000;
const SETTLED_MS = 3_000;
const CONNECTIONS = 16;
const VIEWERS = 100;
const CHURN = { streams: 20, atOnce: 10, seconds: 4 } as const;
const STAGGER_MS = 50;

export interface ComparisonOptions {
  /** A commit, or the folder of an installed checkout. */
  readonly against: string;
  readonly rounds: number;
  /** Which comparisons to run: `startup`, `delivery`, `viewers`, `ingest`, `ladder`, `churn`. */
  readonly parts: ReadonlySet<string>;
  /** Publishers of `ingest`. */
  readonly streams: number;
  /** Duration of a measurement. */
  readonly seconds: number;
}

/** Runs `work`, and resolves with what it cost: CPU seconds, or counts. */
type Meter<Cost> = (server: BenchServer, pids: readonly number[], work: () => Promise<unknown>) => Promise<Cost>;

/** One measurement of a version: what the work cost, and for how many units. */
interface Measured<Cost> {
  readonly cost: Cost;
  readonly units: number;
}

/** A version under measurement. */
interface Subject {
  measure<Cost>(meter: Meter<Cost>): Promise<Measured<Cost>>;
}

interface Comparison {
  readonly part: string;
  readonly what: string;
  /** What the cost is divided by. */
  readonly per: string;
  /** Prepares a version, and runs `work` with it. */
  open<Result>(options: ServerOptions, work: (subject: Subject) => Promise<Result>): Promise<Result>;
}

const cpu: Meter<number> = (_server, pids, work) => cpuDuring(pids, work);
const counts: Meter<Counts> = (server, _pids, work) => countDuring(server, work);

/**
 * Compares this checkout with another version, alternately on one machine, so that other work on it affects both equally. Each comparison is first
 * run with this checkout on both sides (A/A): what its ratios differ from 1 is what the machine adds.
 */
export async function compareVersions(
  clip: Clip,
  options: ComparisonOptions,
  tell: (...rows: Row[]) => void,
): Promise<void> {
  const { against, rounds, parts } = options;
  await withCheckout(against, async (root) => {
    if (parts.has("startup")) tell(...(await compareStarts(root, rounds)));
    for (const comparison of comparisonsOf(clip, options)) {
      if (!parts.has(comparison.part)) continue;
      await withDataFolder(async (folder) => {
        const ours = { env: compiledTo(join(folder, "here")) };
        const theirs = { root, env: compiledTo(join(folder, "there")) };
        const same = await ratiosOf(comparison, ours, ours, rounds);
        const spread = median(same.ratios.map((ratio) => Math.abs(ratio - 1)));
        const other = await ratiosOf(comparison, ours, theirs, rounds);
        const here = await countsOf(comparison, ours);
        const there = await countsOf(comparison, theirs);
        tell(...rowsOf(comparison, spread, other), ...countRows(comparison, here, there));
      });
    }
  });
}

/**
 * Node keeps a file's code as far as the first process that read it had compiled it. A checkout in use has the code of whatever ran there first, and
 * a new one that of the measurement itself, so each version gets an empty folder.
 */
const compiledTo = (folder: string) => ({ NODE_COMPILE_CACHE: folder });

interface Ratios {
  /** Microseconds of CPU per unit of each round. */
  readonly here: readonly number[];
  readonly there: readonly number[];
  readonly ratios: readonly number[];
}

/**
 * Each version's server is the older one in half of the rounds, of which there is one more if their number is odd: that alone can make a request a
 * tenth dearer.
 */
async function ratiosOf(
  { open }: Comparison,
  version: ServerOptions,
  other: ServerOptions,
  rounds: number,
): Promise<Ratios> {
  const ours: Side = { options: version, costs: [] };
  const theirs: Side = { options: other, costs: [] };
  const half = Math.ceil(rounds / 2);
  await takeTurns(open, [ours, theirs], half);
  await takeTurns(open, [theirs, ours], half);
  const [here, there] = [ours.costs, theirs.costs];
  return { here, there, ratios: here.map((value, round) => value / (there[round] ?? Number.NaN)) };
}

interface Side {
  readonly options: ServerOptions;
  readonly costs: number[];
}

async function takeTurns(
  open: Comparison["open"],
  [older, younger]: readonly [Side, Side],
  rounds: number,
): Promise<void> {
  const turn = async (subject: Subject, { costs }: Side): Promise<void> => {
    const { cost, units } = await subject.measure(cpu);
    costs.push((cost / units) * 1e6);
  };
  await open(older.options, (first) =>
    open(younger.options, async (second) => {
      for (let round = 0; round < rounds; round++) {
        // The order alternates, so that drift affects both equally.
        const turns = [() => turn(first, older), () => turn(second, younger)];
        for (const next of round % 2 === 0 ? turns : turns.reverse()) await next();
      }
    }),
  );
}

/**
 * Per unit, of a few measurements, after one that compiles the code: medians, but the fewest calls, because V8 writes to the event loop's eventfd
 * once for each step of a collection, which falls into a measurement or not.
 */
function countsOf({ open }: Comparison, version: ServerOptions): Promise<Counts> {
  return open({ ...version, inspect: true }, async (subject) => {
    await subject.measure(cpu);
    const counted: Measured<Counts>[] = [];
    for (let nth = 0; nth < COUNTED; nth++) counted.push(await subject.measure(counts));
    const each = (of: (counts: Counts) => number): number[] => counted.map(({ cost, units }) => of(cost) / units);
    return {
      systemCalls: Math.min(...each(({ systemCalls }) => systemCalls)),
      allocatedBytes: median(each(({ allocatedBytes }) => allocatedBytes)),
      queries: median(each(({ queries }) => queries)),
    };
  });
}

function rowsOf({ what, per }: Comparison, spread: number, { here, there, ratios }: Ratios): Row[] {
  const rounds = ratios.length;
  const figure = `${what}, CPU per ${per}`;
  const ratio = median(ratios);
  const verdict =
    spread > MAX_SPREAD
      ? "times: the machine is too busy for it, counts decide"
      : ratio <= LIMIT + spread
        ? "times: not slower"
        : "times: SLOWER";
  return [
    { what: `${figure}: this version`, value: median(here), unit: "µs" },
    { what: `${figure}: the other version`, value: median(there), unit: "µs" },
    { what: `${figure}: spread of A/A, median of ${rounds}`, value: spread * 100, unit: "%" },
    { what: `${figure}: worst of ${rounds} ratios`, value: Math.max(...ratios), unit: "times" },
    { what: `${figure}: median of ${rounds} ratios`, value: ratio, unit: verdict },
  ];
}

function countRows({ what, per }: Comparison, here: Counts, there: Counts): Row[] {
  const rows = (name: string, of: (counts: Counts) => number, unit: string): Row[] => [
    { what: `${what}, ${name} per ${per}: this version`, value: of(here), unit },
    { what: `${what}, ${name} per ${per}: the other version`, value: of(there), unit },
  ];
  return [
    ...rows("reads and writes", ({ systemCalls }) => systemCalls, ""),
    ...rows("allocated", ({ allocatedBytes }) => allocatedBytes / 1000, "kB"),
    ...rows("queries", ({ queries }) => queries, ""),
  ];
}

function comparisonsOf(clip: Clip, { streams, seconds }: ComparisonOptions): readonly Comparison[] {
  return [
    {
      part: "delivery",
      what: "live playlist",
      per: "request",
      open: (options, work) => whileLive(clip, options, (live) => work(playlistLoad(live, seconds))),
    },
    {
      part: "delivery",
      what: "segment",
      per: "MB",
      open: (options, work) => whileLive(clip, options, (live) => work(segmentLoad(live, seconds))),
    },
    {
      part: "viewers",
      what: `${VIEWERS} low-latency viewers`,
      per: "request",
      open: (options, work) => whileLive(clip, options, (live) => work(viewersOf(live, seconds))),
    },
    {
      part: "ingest",
      what: `${streams} publishers, all processes`,
      per: "stream and second",
      open: (options, work) =>
        work(onNewServer(options, (server, meter) => ingest(server, meter, clip, streams, seconds))),
    },
    {
      part: "ladder",
      what: "a ladder of two rungs, all processes",
      per: "second",
      open: (options, work) => work(onNewServer(options, (server, meter) => ladder(server, meter, clip, seconds))),
    },
    {
      part: "churn",
      what: `streams of ${CHURN.seconds} s, all processes`,
      per: "stream",
      open: (options, work) => work(onNewServer(options, (server, meter) => churn(server, meter, clip))),
    },
  ];
}

interface Live {
  readonly server: BenchServer;
  readonly hlsUrl: string;
  readonly playlistUrl: string;
}

/** A server with one live stream, which takes requests only while it is measured. */
function whileLive<Result>(clip: Clip, options: ServerOptions, work: (live: Live) => Promise<Result>): Promise<Result> {
  return withDataFolder((folder) =>
    withServer(
      folder,
      async (server) => {
        const { publishUrl, hlsUrl } = await server.createStream("compared");
        const sender = await RtmpSender.start(publishUrl, clip);
        try {
          await wait(LISTED_AFTER_MS);
          return await work({ server, hlsUrl, playlistUrl: await videoPlaylistUrl(hlsUrl) });
        } finally {
          await sender.stop();
        }
      },
      options,
    ),
  );
}

function playlistLoad(live: Live, seconds: number): Subject {
  return loadOf(
    live,
    seconds,
    async () => live.playlistUrl,
    ({ requests }) => requests,
  );
}

/** By size: the clip's segments differ by 6 %, and which one is the newest depends on when its server began. */
function segmentLoad(live: Live, seconds: number): Subject {
  return loadOf(
    live,
    seconds,
    () => segmentOf(live),
    ({ bytes }) => bytes / 1e6,
  );
}

async function segmentOf({ playlistUrl }: Live): Promise<string> {
  return new URL(newestSegment((await fetchBytes(playlistUrl)).body.toString()), playlistUrl).href;
}

/** As many requests as the server answers over a few connections. */
function loadOf(
  { server }: Live,
  seconds: number,
  urlOf: () => Promise<string>,
  unitsOf: (result: LoadResult) => number,
): Subject {
  return {
    async measure(meter) {
      const url = await urlOf();
      let units = 0;
      const cost = await meter(server, [server.pid], async () => {
        units = unitsOf(await load(url, CONNECTIONS, seconds));
      });
      return { cost, units };
    },
  };
}

function viewersOf({ server, hlsUrl }: Live, seconds: number): Subject {
  return {
    async measure(meter) {
      const viewers = await LiveViewers.start(hlsUrl, VIEWERS);
      await wait(SETTLED_MS);
      const before = viewers.requests;
      let units = 0;
      const cost = await meter(server, [server.pid], async () => {
        await wait(seconds * 1000);
        units = viewers.requests - before;
      });
      await viewers.stop();
      return { cost, units };
    },
  };
}

/** Each measurement has a new server: what an earlier one left behind would be measured too. */
function onNewServer(
  options: ServerOptions,
  measure: <Cost>(server: BenchServer, meter: Meter<Cost>) => Promise<Measured<Cost>>,
): Subject {
  return {
    measure: (meter) => withDataFolder((folder) => withServer(folder, (server) => measure(server, meter), options)),
  };
}

async function ingest<Cost>(server: BenchServer, meter: Meter<Cost>, clip: Clip, count: number, seconds: number) {
  const senders: RtmpSender[] = [];
  try {
    for (let nth = 0; nth < count; nth++) {
      senders.push(await RtmpSender.start((await server.createStream(`ingest ${nth}`)).publishUrl, clip));
      await wait(STAGGER_MS);
    }
    await wait(SETTLED_MS);
    const cost = await meter(server, processTree(server.pid), () => wait(seconds * 1000));
    if (senders.some(({ isOpen }) => !isOpen)) throw new Error("the server closed a publisher");
    return { cost, units: count * seconds };
  } finally {
    await Promise.all(senders.map((sender) => sender.stop()));
  }
}

async function ladder<Cost>(server: BenchServer, meter: Meter<Cost>, clip: Clip, seconds: number) {
  const { publishUrl, hlsUrl } = await server.createStream("ladder", PROFILES);
  const sender = await RtmpSender.start(publishUrl, clip);
  try {
    await playlistsOf(hlsUrl);
    await wait(SETTLED_MS);
    return { cost: await meter(server, processTree(server.pid), () => wait(seconds * 1000)), units: seconds };
  } finally {
    await sender.stop();
  }
}

async function churn<Cost>(server: BenchServer, meter: Meter<Cost>, clip: Clip) {
  const { streams, atOnce, seconds } = CHURN;
  let begun = 0;
  const broadcaster = async (nth: number): Promise<void> => {
    await wait(nth * STAGGER_MS);
    while (begun < streams) {
      const { publishUrl } = await server.createStream(`churn ${begun++}`);
      const sender = await RtmpSender.start(publishUrl, clip);
      await wait(seconds * 1000);
      await sender.stop();
    }
  };
  const all = () => Promise.all(Array.from({ length: atOnce }, (_, nth) => broadcaster(nth)));
  return { cost: await meter(server, processTree(server.pid), all), units: streams };
}
