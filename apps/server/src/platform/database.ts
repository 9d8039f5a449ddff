import { Kysely, PostgresDialect, sql } from "kysely";
import pg from "pg";
import { type ChannelHandler, ChannelListener, type Subscription } from "./channel-listener.ts";
import type { Clock } from "./clock.ts";
import type { Log } from "./log.ts";
import type { PostgresAddress } from "./postgres/embedded-postgres.ts";
import { BackOff, sleep } from "./retry.ts";
import type { Secret } from "./secret.ts";
import { StartupError } from "./startup-error.ts";

const POOL_SIZE = 10;
/** Loss of a connection, as against an answer of the server: worth another attempt while a database is starting. */
const NOT_YET = new Set(["ECONNREFUSED", "ECONNRESET", "ENOENT", "ENOTFOUND", "EAI_AGAIN", "ETIMEDOUT", "57P03"]);
/** A server beside us in the same compose file or cluster may need this long. */
const REACHED_WITHIN_MS = 30_000;
/** Nothing is sent on a connection that listens: by the system's own two hours a dead one would be taken for a quiet one. */
const KEEP_ALIVE_AFTER_MS = 10_000;
/** PostgreSQL refuses 8000 bytes and more. */
const LONGEST_PAYLOAD = 7_999;

/** A PostgreSQL by its address, or by a URL with its password inside. */
export type DatabaseConnection = PostgresAddress | Secret;

export interface Database<Schema> {
  /** At most 10 connections; a statement may take 15 s. */
  readonly db: Kysely<Schema>;
  /** Hear what is sent to a channel, over one connection for all of them. */
  listen(channel: string, handler: ChannelHandler): Promise<Subscription>;
  /** Send up to 7999 bytes to everybody who listens on the channel, in any process. */
  notify(channel: string, payload: string): Promise<void>;
  /** The pool's connections, and how many statements wait for one. */
  connections(): { readonly open: number; readonly idle: number; readonly waiting: number };
  /** Rejects while the database does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Open a database that answers. Throws `StartupError` when it does not within 30 s, or refuses us. */
export async function openDatabase<Schema>(
  connection: DatabaseConnection,
  log: Log,
  clock: Clock,
): Promise<Database<Schema>> {
  const config = {
    ...("reveal" in connection ? { connectionString: connection.reveal() } : connection),
    application_name: "weir",
    connectionTimeoutMillis: 5_000,
  };
  const pool = new pg.Pool({
    ...config,
    max: POOL_SIZE,
    statement_timeout: 15_000,
    idle_in_transaction_session_timeout: 30_000,
  });
  // Idle connections tell of a server that went away (57P01) here; whoever uses one next gets a new one, or an error.
  pool.on("error", (error) => log.warn(`lost a connection to the database: ${error.message}`));
  await reach(pool, clock, log);

  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  const listening = { ...config, keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS };
  const listener = new ChannelListener(() => new pg.Client(listening), clock, log);
  let closing: Promise<void> | null = null;
  return {
    db,
    listen: (channel, handler) => listener.listen(channel, handler),
    async notify(channel, payload) {
      const bytes = Buffer.byteLength(payload);
      if (bytes > LONGEST_PAYLOAD)
        throw new RangeError(`a notification on ${channel} is ${bytes} bytes, of ${LONGEST_PAYLOAD} at most`);
      await sql`select pg_notify(${channel}, ${payload})`.execute(db);
    },
    connections: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    async ping() {
      await sql`select 1`.execute(db);
    },
    close() {
      closing ??= listener.close().then(() => db.destroy());
      return closing;
    },
  };
}

async function reach(pool: pg.Pool, clock: Clock, log: Log): Promise<void> {
  const backOff = new BackOff(100, 2_000);
  const deadline = clock.monotonic() + REACHED_WITHIN_MS;
  for (;;) {
    try {
      await pool.query("select 1");
      return;
    } catch (error) {
      const { code, message } = error as Error & { code?: string };
      if (!NOT_YET.has(code ?? "") || clock.monotonic() > deadline) {
        await pool.end();
        throw new StartupError(
          `cannot use the database: ${message || code}; check DATABASE_URL and that the server runs`,
        );
      }
      log.debug(`the database does not answer yet: ${message || code}`);
      await sleep(clock, backOff.next());
    }
  }
}
