import { Kysely, PostgresDialect, sql } from "kysely";
import pg from "pg";
import { type ChannelHandler, ChannelListener, type Subscription } from "./channel-listener.ts";
import type { Clock } from "./clock.ts";
import { DatabaseAway } from "./database-away.ts";
import { CONNECTION, DatabasePool } from "./database-pool.ts";
import type { Log } from "./log.ts";
import { type Notification, Notifier } from "./notifier.ts";
import type { PostgresAddress } from "./postgres/embedded-postgres.ts";
import { BackOff, sleep } from "./retry.ts";
import type { Secret } from "./secret.ts";
import { StartupError } from "./startup-error.ts";

const MAX_STATEMENT_MS = 15_000;
/** Separate pools to the same database, so that none waits behind another. */
const LANES = {
  db: { maxConnections: 10 },
  unhurried: { maxConnections: 1, maxStatementMs: 0 },
  // The facts of live streams are written by the same few statements, twice a second.
  vital: { maxConnections: 4, prepares: true },
  // For the heartbeat alone: it shows within seconds that the database is back, while other lanes still wait for answers.
  lease: { maxConnections: 1, maxStatementMs: 1_500, prepares: true, connectWithinMs: 2_500 },
  // Public queries run few at a time, because each costs as much as an API query, and in order of arrival.
  viewers: { maxConnections: 2, maxWaiting: 500, prepares: true },
  // One, so that a worker that takes a job sees those that the process's other workers have taken.
  jobs: { maxConnections: 1, closesFailed: true },
};
const MAX_LISTEN_MS = 5_000;
/** The connection was lost, or the server says that it starts or ends: worth retrying while a database is starting. */
const NOT_YET = new Set(
  "ECONNREFUSED ECONNRESET EPIPE ENOENT ENOTFOUND EAI_AGAIN ETIMEDOUT 57P01 57P02 57P03".split(" "),
);
/** The same in words, where `pg` and the pool have no code. */
const LOST = /^(Connection terminated|timeout exceeded when trying to connect|no answer to a statement)/;
/** A database server in the same compose file or cluster may need this long. */
const REACHED_WITHIN_MS = 30_000;
/** PostgreSQL refuses 8,000 bytes and more. */
const MAX_PAYLOAD = 7_999;

/** A PostgreSQL server by its address, or by a URL that contains the password. */
export type DatabaseConnection = PostgresAddress | Secret;

/** The most connections of lanes, where they are to be fewer than usual. */
export type LaneSizes = Partial<Record<keyof typeof LANES, number>>;

export interface DatabaseOptions {
  readonly maxStatementMs?: number;
  readonly sizes?: LaneSizes;
  /** The server itself, where `connection` is a pooler in transaction mode: for migrations and LISTEN, which need a session. */
  readonly direct?: DatabaseConnection | null;
  /** Stops waiting for the database. */
  readonly signal?: AbortSignal;
}

export interface Database<Schema> {
  /** For requests and background work. Here and below a statement may take 15 s, and throws `DatabaseAway` if it gets no answer. */
  readonly db: Kysely<Schema>;
  /** For migrations, whose statements have no time limit. */
  readonly unhurried: Kysely<Schema>;
  /** For heartbeats, facts and publishing, which keep broadcasts alive. Statements are prepared. */
  readonly vital: Kysely<Schema>;
  /** For the node's lease. A statement may take 1.5 s. */
  readonly lease: Kysely<Schema>;
  /** For public queries. Statements are prepared; if 500 are waiting, further ones fail at once. */
  readonly viewers: Kysely<Schema>;
  /** For the job queue, whose statements can be whole transactions. */
  readonly jobs: Kysely<Schema>;
  /** Listen to a channel, over one connection for all channels. */
  listen(channel: string, handler: ChannelHandler): Promise<Subscription>;
  /** Send up to 7,999 bytes to every listener of the channel, in any process. */
  notify(channel: string, payload: string): Promise<void>;
  /** Connections of all pools, and the number of statements waiting for one. */
  connections(): { readonly open: number; readonly idle: number; readonly waiting: number };
  /** Rejects while the database does not answer. */
  ping(): Promise<void>;
  /** By which this process reaches the database; null over a local socket. */
  ownAddress(): Promise<string | null>;
  close(): Promise<void>;
}

/** Open a database that answers. Throws `StartupError` if it does not within 30 s, or refuses the connection. */
export async function openDatabase<Schema>(
  connection: DatabaseConnection,
  log: Log,
  clock: Clock,
  { maxStatementMs = MAX_STATEMENT_MS, sizes = {}, direct = null, signal }: DatabaseOptions = {},
): Promise<Database<Schema>> {
  const [config, server] = [configOf(connection), configOf(direct ?? connection)];
  const onCommitted = (notifications: readonly Notification[]) => notifier.send(notifications);
  const pools = ofLanes((lane) => {
    const needsSession = lane === "unhurried";
    return new DatabasePool({
      connection: needsSession ? server : config,
      isByPooler: direct !== null && !needsSession,
      maxStatementMs,
      log: log.child({ lane }),
      onCommitted,
      ...LANES[lane],
      maxConnections: Math.min(LANES[lane].maxConnections, sizes[lane] ?? Number.POSITIVE_INFINITY),
    });
  });
  const lanes = ofLanes((lane) => new Kysely<Schema>({ dialect: new PostgresDialect({ pool: pools[lane] }) }));
  const { db, unhurried } = lanes;
  const notifier = new Notifier(db as Kysely<unknown>, log);
  await reach(db, placeOf(connection), { clock, log, signal });

  const listener = new ChannelListener(
    () => new pg.Client({ ...server, ...CONNECTION, query_timeout: MAX_LISTEN_MS }),
    clock,
    log,
  );
  let closing: Promise<void> | null = null;
  return {
    ...lanes,
    listen: (channel, handler) => listener.listen(channel, handler),
    async notify(channel, payload) {
      const bytes = Buffer.byteLength(payload);
      if (bytes > MAX_PAYLOAD)
        throw new RangeError(`a notification on ${channel} is ${bytes} bytes, of ${MAX_PAYLOAD} at most`);
      await sql`select pg_notify(${channel}, ${payload})`.execute(db);
    },
    connections() {
      const counts = Object.values(pools).map((pool) => pool.counts());
      const sum = (name: "open" | "idle" | "waiting") => counts.reduce((total, count) => total + count[name], 0);
      return { open: sum("open"), idle: sum("idle"), waiting: sum("waiting") };
    },
    async ping() {
      await sql`select 1`.execute(db);
    },
    async ownAddress() {
      const { rows } = await sql<{ address: string | null }>`select host(inet_client_addr()) as address`.execute(
        unhurried,
      );
      return rows[0]?.address ?? null;
    },
    close() {
      closing ??= listener.close().then(async () => {
        await Promise.all(Object.values(pools).map((pool) => pool.end()));
      });
      return closing;
    },
  };
}

const ofLanes = <Value>(make: (lane: keyof typeof LANES) => Value) =>
  Object.fromEntries(Object.keys(LANES).map((lane) => [lane, make(lane as keyof typeof LANES)])) as Record<
    keyof typeof LANES,
    Value
  >;

const configOf = (connection: DatabaseConnection): pg.ClientConfig => ({
  ...("reveal" in connection ? { connectionString: connection.reveal() } : connection),
  application_name: "weir",
});

/** Host and port, for people; null for the embedded server. */
function placeOf(connection: DatabaseConnection): string | null {
  return "reveal" in connection ? (URL.parse(connection.reveal())?.host ?? "the address in DATABASE_URL") : null;
}

interface Reach {
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal | undefined;
}

async function reach<Schema>(db: Kysely<Schema>, place: string | null, { clock, log, signal }: Reach): Promise<void> {
  let isTold = place === null;
  const backOff = new BackOff(100, 2_000);
  const deadline = clock.monotonic() + REACHED_WITHIN_MS;
  for (;;) {
    try {
      await sql`select 1`.execute(db);
      return;
    } catch (error) {
      const { code, message } = (error instanceof DatabaseAway ? error.cause : error) as Error & { code?: string };
      const isLost = NOT_YET.has(code ?? "") || LOST.test(message);
      if (!isLost || clock.monotonic() > deadline) {
        await db.destroy();
        throw new StartupError(
          `cannot use the database: ${message || code}; check DATABASE_URL and that the server runs`,
        );
      }
      log[isTold ? "debug" : "warn"](`waiting for the database at ${place ?? "its socket"}: ${message || code}`);
      isTold = true;
      await sleep(clock, backOff.next());
      if (signal?.aborted) {
        await db.destroy();
        throw new StartupError("stopped while it was waiting for the database");
      }
    }
  }
}
