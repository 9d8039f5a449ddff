import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from "kysely";
import pg from "pg";
import { DatabaseAway, explainStatementFailure } from "./database-away.ts";
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
  readonly #log: Log;
  #isAway = false;

  constructor({ connection, maxConnections, maxStatementMs, log }: DatabasePoolSettings) {
    this.options = {
      ...connection,
      ...CONNECTION,
      max: maxConnections,
      statement_timeout: maxStatementMs,
      query_timeout: maxStatementMs + ANSWER_MARGIN_MS,
      idle_in_transaction_session_timeout: MAX_IDLE_IN_TRANSACTION_MS,
    };
    this.#log = log;
    this.#pool = new pg.Pool(this.options);
    // The pool itself listens only to idle connections, and an error that nobody listens to ends the process.
    this.#pool.on("connect", (client) => {
      client.on("error", ({ message }) => log.debug(`lost a connection to the database: ${message}`));
    });
    this.#pool.on("error", () => {});
  }

  async connect(): Promise<PostgresPoolClient> {
    try {
      return new PooledConnection(await this.#pool.connect(), (failure) => this.#note(failure));
    } catch (error) {
      const failure = explainStatementFailure(error);
      this.#note(failure);
      throw failure;
    }
  }

  end(): Promise<void> {
    return this.#pool.end();
  }

  counts(): { readonly open: number; readonly idle: number; readonly waiting: number } {
    return { open: this.#pool.totalCount, idle: this.#pool.idleCount, waiting: this.#pool.waitingCount };
  }

  /** One line when the database goes away and one when it is back, however many statements fail meanwhile. */
  #note(failure: unknown): void {
    const isAway = failure instanceof DatabaseAway;
    if (isAway === this.#isAway) return;
    this.#isAway = isAway;
    if (isAway) this.#log.warn({ err: failure.cause }, "the database does not answer");
    else this.#log.info("the database answers again");
  }
}

/** One use of a connection, from the pool and back. */
class PooledConnection implements PostgresPoolClient {
  readonly #client: PostgresPoolClient;
  readonly #note: (failure: unknown) => void;
  #isLost = false;

  /** `note` is told of every statement: what it failed with, or null. */
  constructor(client: PostgresPoolClient, note: (failure: unknown) => void) {
    this.#client = client;
    this.#note = note;
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
      const result = await this.#client.query<R>(sql, parameters);
      this.#note(null);
      return result;
    } catch (error) {
      const failure = explainStatementFailure(error);
      this.#isLost ||= failure instanceof DatabaseAway;
      this.#note(failure);
      throw failure;
    }
  }
}
