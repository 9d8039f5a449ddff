import { setTimeout as wait } from "node:timers/promises";
import { sql } from "kysely";
import { systemClock } from "../../apps/server/src/platform/clock.ts";
import { openDatabase } from "../../apps/server/src/platform/database.ts";
import { silentLog } from "../../apps/server/src/platform/log.ts";
import {
  startTemporaryPostgres,
  type TemporaryPostgres,
} from "../../apps/server/src/platform/postgres/temporary-postgres-rig.ts";
import type { Clip } from "../../apps/server/src/roles/capacity/clip.ts";
import { videoPlaylistUrl } from "../../apps/server/src/roles/capacity/hls-reader.ts";
import { costOf } from "../../apps/server/src/roles/capacity/process-cost.ts";
import { RtmpSender } from "../../apps/server/src/roles/capacity/rtmp-sender.ts";
import { type BenchServer, ROOT, withDataFolder, withServer } from "./bench-server.ts";
import { median, type Row } from "./report.ts";
import { ioOf } from "./server-counts.ts";

const STREAMS = 20;
const STAGGER_MS = 50;
const SETTLED_MS = 12_000;
const ROWS_MS = 60_000;
/** Until a copy's window is full, and takes no new memory. A copy stays for 30 s after it was asked for. */
const FILLED_MS = 28_000;
const ASKED_AGAIN_MS = 14_000;
const FOLLOWED_MS = 10_000;
const FOLLOWED_FEW = 5;
const FOLLOWED_ALL = 25;
const FORGOTTEN_MS = 40_000;
const HOUR_S = 3_600;

/** What recorded streams cost the database: transactions, and bytes of its log. */
export async function measureRows(clip: Clip, root = ROOT, version = ""): Promise<Row[]> {
  await using postgres = await open();
  return await withDataFolder((folder) =>
    withServer(
      folder,
      async (server) => {
        const count = counterOf(postgres);
        await wait(SETTLED_MS);
        const idle = await during(count, ROWS_MS / 3);
        const senders = await publish(server, clip, true, STREAMS);
        try {
          await wait(SETTLED_MS);
          const busy = await during(count, ROWS_MS);
          const row = (what: string, value: number, unit: string): Row => ({
            what: `${[`${STREAMS} recorded streams without a ladder`, version].filter(Boolean).join(", ")}: ${what}`,
            value,
            unit,
          });
          return [
            row("database transactions a stream and second", (busy.transactions - idle.transactions) / STREAMS, ""),
            row("changed rows a stream and second", (busy.rows - idle.rows) / STREAMS, ""),
            row("WAL a stream-hour", ((busy.walBytes - idle.walBytes) / STREAMS / 1e6) * HOUR_S, "MB"),
          ];
        } finally {
          await Promise.all(senders.map((sender) => sender.stop()));
        }
      },
      { root, env: { DATABASE_URL: urlOf(postgres) } },
    ),
  );
}

/**
 * What it costs both ends that one node keeps copies of another's live windows. Each round measures the same publishers with none, few and all of them
 * followed: what each further stream adds is the slope between few and all, and what few cost beyond it is the price of the first. Nobody watches: a
 * request now and then keeps the copy, and none comes while it is measured.
 */
export async function measureFollowing(clip: Clip, rounds: number): Promise<Row[]> {
  await using postgres = await open();
  const env = { DATABASE_URL: urlOf(postgres), WEIR_CLUSTER_ADDRESS: "127.0.0.1:0" };
  return await withDataFolder((folder) =>
    withServer(
      `${folder}/owner`,
      (owner) =>
        withServer(
          `${folder}/follower`,
          async (follower) => {
            const streams = await publish(owner, clip, false, FOLLOWED_ALL);
            const follow = async (count: number) => {
              for (let passed = 0; passed < FILLED_MS; passed += ASKED_AGAIN_MS) {
                for (const { hlsUrl } of streams.made.slice(0, count))
                  await videoPlaylistUrl(hlsUrl.replace(owner.url, follower.url));
                await wait(ASKED_AGAIN_MS);
              }
            };
            const found: FollowingCost[] = [];
            // The first round does not count: in it both ends compile what the others run.
            for (let round = 0; round <= rounds; round++) {
              await wait(round === 0 ? SETTLED_MS : FORGOTTEN_MS);
              const none = await loadOf([owner, follower]);
              await follow(FOLLOWED_FEW);
              const few = await loadOf([owner, follower]);
              await follow(FOLLOWED_ALL);
              const all = await loadOf([owner, follower]);
              if (round > 0) found.push({ none, few, all });
            }
            await Promise.all(streams.map((sender) => sender.stop()));
            return followingRows(found, (clip.bitrateBps / 1e6).toFixed(1));
          },
          { env },
        ),
      { env },
    ),
  );
}

/** What a server uses in a second. */
interface ServerLoad {
  readonly cores: number;
  readonly bytesRead: number;
  readonly systemCalls: number;
}

/** Of the owner and the follower, with none, few and all streams followed. */
type FollowingCost = Readonly<Record<"none" | "few" | "all", readonly ServerLoad[]>>;

function followingRows(found: readonly FollowingCost[], mbits: string): Row[] {
  const what = `a followed stream of ${mbits} Mbit/s, ${FOLLOWED_FEW} to ${FOLLOWED_ALL} of ${FOLLOWED_ALL}, median of ${found.length}`;
  const each =
    (end: number, of: keyof ServerLoad) =>
    ({ few, all }: FollowingCost) =>
      ((all[end]?.[of] ?? 0) - (few[end]?.[of] ?? 0)) / (FOLLOWED_ALL - FOLLOWED_FEW);
  const [owner, follower] = [0, 1];
  const cores = (end: number) => each(end, "cores");
  const both = (cost: FollowingCost) => cores(owner)(cost) + cores(follower)(cost);
  const first = (cost: FollowingCost) =>
    [owner, follower].reduce((sum, end) => sum + (cost.few[end]?.cores ?? 0) - (cost.none[end]?.cores ?? 0), 0) -
    both(cost) * FOLLOWED_FEW;
  const row = (name: string, value: (cost: FollowingCost) => number, unit: string, factor = 1): Row => ({
    what: `${what}: ${name}`,
    value: median(found.map(value)) * factor,
    unit,
  });
  const unit = "thousandths of a core";
  return [
    row("owner, followed by nobody", ({ none }) => (none[owner]?.cores ?? 0) / FOLLOWED_ALL, unit, 1000),
    row("each further one, its owner", cores(owner), unit, 1000),
    row("each further one, its follower", cores(follower), unit, 1000),
    row("each further one, both", both, unit, 1000),
    row("the first one beyond that, both", first, unit, 1000),
    row("each further one, read by the follower", each(follower, "bytesRead"), "Mbit/s", 8 / 1e6),
    row("each further one, reads and writes of the owner", each(owner, "systemCalls"), "a second"),
    row("each further one, reads and writes of the follower", each(follower, "systemCalls"), "a second"),
  ];
}

async function loadOf(servers: readonly BenchServer[]): Promise<ServerLoad[]> {
  const now = () => servers.map(({ pid }) => ({ cores: costOf([pid]).cpuSeconds, ...ioOf(pid) }));
  const before = now();
  const startedAt = performance.now();
  await wait(FOLLOWED_MS);
  const seconds = (performance.now() - startedAt) / 1000;
  return now().map((after, nth) => {
    const each = (of: keyof ServerLoad) => (after[of] - (before[nth]?.[of] ?? 0)) / seconds;
    return { cores: each("cores"), bytesRead: each("bytesRead"), systemCalls: each("systemCalls") };
  });
}

type Publishers = RtmpSender[] & { readonly made: { readonly hlsUrl: string }[] };

async function publish(server: BenchServer, clip: Clip, record: boolean, count: number): Promise<Publishers> {
  const senders = Object.assign([] as RtmpSender[], { made: [] as { readonly hlsUrl: string }[] });
  for (let nth = 0; nth < count; nth++) {
    const stream = await server.createStream(`nodes ${nth}`, [], record);
    senders.made.push(stream);
    senders.push(await RtmpSender.start(stream.publishUrl, clip));
    await wait(STAGGER_MS);
  }
  return senders;
}

interface DatabaseCounts {
  readonly transactions: number;
  readonly rows: number;
  readonly walBytes: number;
}

type Counter = () => Promise<DatabaseCounts>;

/** Counts of the server so far. */
function counterOf({ address }: TemporaryPostgres): Counter {
  return async () => {
    const database = await openDatabase(address, silentLog, systemClock);
    try {
      const { rows } = await sql<Record<keyof DatabaseCounts, string>>`
        select xact_commit as transactions, tup_inserted + tup_updated + tup_deleted as rows,
          pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as "walBytes"
        from pg_stat_database where datname = current_database()`.execute(database.db);
      const { transactions = 0, rows: changed = 0, walBytes = 0 } = rows[0] ?? {};
      return { transactions: Number(transactions), rows: Number(changed), walBytes: Number(walBytes) };
    } finally {
      await database.close();
    }
  };
}

/** A second. */
async function during(count: Counter, ms: number): Promise<DatabaseCounts> {
  const before = await count();
  await wait(ms);
  const after = await count();
  const perSecond = (of: keyof DatabaseCounts) => ((after[of] - before[of]) / ms) * 1000;
  return { transactions: perSecond("transactions"), rows: perSecond("rows"), walBytes: perSecond("walBytes") };
}

async function open(): Promise<TemporaryPostgres & AsyncDisposable> {
  const postgres = await startTemporaryPostgres();
  return {
    ...postgres,
    async [Symbol.asyncDispose]() {
      // It stops with timers that do not keep the process alive.
      const stopping = setInterval(() => {}, 1_000);
      await postgres.close();
      clearInterval(stopping);
    },
  };
}

const urlOf = ({ address: { host, port, user, database } }: TemporaryPostgres): string =>
  `postgres://${user}@${encodeURIComponent(host)}:${port}/${database}`;
