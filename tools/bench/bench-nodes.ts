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

const STREAMS = 20;
const STAGGER_MS = 50;
const SETTLED_MS = 12_000;
const ROWS_MS = 60_000;
/** A copy stays for 30 s after its last viewer: it has its window long before it is measured, and stays for all of the measurement. */
const COPIED_MS = 12_000;
const FOLLOWED_MS = 15_000;
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
        const senders = await publish(server, clip, true);
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

/** What it costs both ends that one node keeps copies of another's live windows. Nobody watches meanwhile: viewers cost the same everywhere. */
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
            const streams = await publish(owner, clip, false);
            const nodes = [owner, follower];
            const costs: number[][] = [];
            // The first round does not count: in it both ends compile what the others run.
            for (let round = 0; round <= rounds; round++) {
              await wait(round === 0 ? SETTLED_MS : FORGOTTEN_MS);
              const alone = await cpuOf(nodes);
              for (const { hlsUrl } of streams.made) await videoPlaylistUrl(hlsUrl.replace(owner.url, follower.url));
              await wait(COPIED_MS);
              const followed = await cpuOf(nodes);
              if (round > 0) costs.push(followed.map((cores, nth) => ((cores - (alone[nth] ?? 0)) / STREAMS) * 1000));
            }
            await Promise.all(streams.map((sender) => sender.stop()));
            const unit = "thousandths of a core";
            const what = `a followed stream of ${(clip.bitrateBps / 1e6).toFixed(1)} Mbit/s, of ${STREAMS}, median of ${rounds}`;
            const of = (value: (cost: number[]) => number) => median(costs.map(value));
            return [
              { what: `${what}: its owner`, value: of(([at = 0]) => at), unit },
              { what: `${what}: its follower`, value: of(([, at = 0]) => at), unit },
              { what: `${what}: both`, value: of((cost) => cost.reduce((sum, part) => sum + part, 0)), unit },
            ];
          },
          { env },
        ),
      { env },
    ),
  );
}

/** The cores that each server's process uses. */
async function cpuOf(servers: readonly BenchServer[]): Promise<number[]> {
  const before = servers.map(({ pid }) => costOf([pid]).cpuSeconds);
  const startedAt = performance.now();
  await wait(FOLLOWED_MS);
  const seconds = (performance.now() - startedAt) / 1000;
  return servers.map(({ pid }, nth) => (costOf([pid]).cpuSeconds - (before[nth] ?? 0)) / seconds);
}

type Publishers = RtmpSender[] & { readonly made: { readonly hlsUrl: string }[] };

async function publish(server: BenchServer, clip: Clip, record: boolean): Promise<Publishers> {
  const senders = Object.assign([] as RtmpSender[], { made: [] as { readonly hlsUrl: string }[] });
  for (let nth = 0; nth < STREAMS; nth++) {
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
