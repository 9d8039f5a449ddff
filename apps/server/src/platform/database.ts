import { Kysely, PostgresDialect, sql } from "kysely";
import pg from "pg";
import { type ChannelHandler, ChannelListener, type Subscription } from "./channel-listener.ts";
import type { Clock } from "./clock.ts";
import { DatabaseAway } from "./database-away.ts";
import { CONNECTION, DatabasePool } from "./database-pool.ts";
import type { Log } from "./log.ts";
import type { PostgresAddress } from "./postgres/embedded-postgres.ts";
import { BackOff, sleep } from "./retry.ts";
import type { Secret } from "./secret.ts";
import { StartupError } from "./startup-error.ts";

const MAX_CONNECTIONS = 10;
const MAX_STATEMENT_MS = 15_000;
const MAX_LISTEN_MS = 5_000;
/** Loss of a connection, as against an answer of the server: worth another attempt while a database is starting. */
const NOT_YET = new Set(["ECONNREFUSED", "ECONNRESET", "ENOENT", "ENOTFOUND", "EAI_AGAIN", "ETIMEDOUT", "57P03"]);
/** A server beside us in the same compose file or cluster may need this long. */
const REACHED_WITHIN_MS = 30_000;
/** PostgreSQL refuses 8000 bytes and more. */
const LONGEST_PAYLOAD = 7_999;

/** A PostgreSQL by its address, or by a URL with its password inside. */
export type DatabaseConnection = PostgresAddress | Secret;

export interface DatabaseOptions {
  readonly maxStatementMs?: number;
}

export interface Database<Schema> {
  /** At most 10 connections; a statement may take 15 s. A statement without an answer throws `DatabaseAway`. */
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
  { maxStatementMs = MAX_STATEMENT_MS }: DatabaseOptions = {},
): Promise<Database<Schema>> {
  const config = {
    ...("reveal" in connection ? { connectionString: connection.reveal() } : connection),
    application_name: "weir",
  };
  const pool = new DatabasePool({ connection: config, maxConnections: MAX_CONNECTIONS, maxStatementMs, log });
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  await reach(db, pool, clock, log);

  const listener = new ChannelListener(
    () => new pg.Client({ ...config, ...CONNECTION, query_timeout: MAX_LISTEN_MS }),
    clock,
    log,
  );
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
    connections: () => pool.counts(),
    async ping() {
      await sql`select 1`.execute(db);
    },
    close() {
      closing ??= listener.close().then(() => db.destroy());
      return closing;
    },
  };
}

async function reach<Schema>(db: Kysely<Schema>, pool: DatabasePool, clock: Clock, log: Log): Promise<void> {
  const backOff = new BackOff(100, 2_000);
  const deadline = clock.monotonic() + REACHED_WITHIN_MS;
  for (;;) {
    try {
      await sql`select 1`.execute(db);
      return;
    } catch (error) {
      const { code, message } = (error instanceof DatabaseAway ? error.cause : error) as Error & { code?: string };
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
