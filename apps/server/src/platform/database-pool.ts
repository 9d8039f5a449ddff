import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from "kysely";
import pg from "pg";
import { isDatabaseAway } from "./database-away.ts";
import type { Log } from "./log.ts";

/** Of every connection. By the system's own two hours one that died in silence would be taken for a quiet one. */
export const CONNECTION = { keepAlive: true, keepAliveInitialDelayMillis: 10_000, connectionTimeoutMillis: 5_000 };
const MAX_IDLE_IN_TRANSACTION_MS = 30_000;
/** The server ends a statement first, if it can still be heard. */
const ANSWER_MARGIN_MS = 1_000;

export interface DatabasePoolSettings {
  readonly connection: pg.ClientConfig;
  readonly maxConnections: number;
  readonly maxStatementMs: number;
  readonly log: Log;
}

/**
 * Connections for Kysely that fail one at a time: a connection that dies fails its statement and nothing else, and one that leaves a
 * statement unanswered is closed, as the next statement would wait behind it.
 */
export class DatabasePool implements PostgresPool {
  readonly options: pg.PoolConfig;
  readonly #pool: pg.Pool;

  constructor({ connection, maxConnections, maxStatementMs, log }: DatabasePoolSettings) {
    this.options = {
      ...connection,
      ...CONNECTION,
      max: maxConnections,
      statement_timeout: maxStatementMs,
      query_timeout: maxStatementMs + ANSWER_MARGIN_MS,
      idle_in_transaction_session_timeout: MAX_IDLE_IN_TRANSACTION_MS,
    };
    this.#pool = new pg.Pool(this.options);
    // The pool itself listens only to idle connections, and an error that nobody listens to ends the process.
    this.#pool.on("connect", (client) => {
      client.on("error", ({ message }) => log.warn(`lost a connection to the database: ${message}`));
    });
    this.#pool.on("error", () => {});
  }

  async connect(): Promise<PostgresPoolClient> {
    return new PooledConnection(await this.#pool.connect());
  }

  end(): Promise<void> {
    return this.#pool.end();
  }

  counts(): { readonly open: number; readonly idle: number; readonly waiting: number } {
    return { open: this.#pool.totalCount, idle: this.#pool.idleCount, waiting: this.#pool.waitingCount };
  }
}

/** One use of a connection, from the pool and back. */
class PooledConnection implements PostgresPoolClient {
  readonly #client: PostgresPoolClient;
  #isLost = false;

  constructor(client: PostgresPoolClient) {
    this.#client = client;
  }

  query<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  query<R>(
    statement: string | PostgresCursor<R>,
    parameters: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    if (typeof statement !== "string") throw new TypeError("results are not read by cursor here");
    return this.#ask<R>(statement, parameters);
  }

  release(isBroken?: boolean): void {
    this.#client.release(isBroken === true || this.#isLost);
  }

  async #ask<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>> {
    try {
      return await this.#client.query<R>(sql, parameters);
    } catch (error) {
      this.#isLost ||= isDatabaseAway(error);
      throw error;
    }
  }
}
