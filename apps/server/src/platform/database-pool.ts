import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from "kysely";
import pg from "pg";
import { DatabaseAway, DatabaseBusy, DatabaseClosed, explainStatementFailure } from "./database-away.ts";
import type { Log } from "./log.ts";
import { NOTIFY_STATEMENT, type Notification } from "./notifier.ts";

/** For every connection. With the system's default of two hours, a connection that died silently would look idle. */
export const CONNECTION = { keepAlive: true, keepAliveInitialDelayMillis: 10_000, connectionTimeoutMillis: 5_000 };
const MAX_IDLE_IN_TRANSACTION_MS = 30_000;
/** Far more than a pool that prepares should need: each takes memory in every connection. */
const MAX_PREPARED = 200;
/** The server ends a statement first, if it can still be reached. */
const ANSWER_MARGIN_MS = 1_000;

export interface DatabasePoolSettings {
  readonly connection: pg.ClientConfig;
  readonly maxConnections: number;
  /** Statements that may wait for a connection; further ones fail at once with `DatabaseBusy`. */
  readonly maxWaiting?: number;
  /** How long a new connection may take; 5 s by default. */
  readonly connectWithinMs?: number;
  /** 0 means no limit. */
  readonly maxStatementMs: number;
  /** Plan each statement once per connection. For a small set of frequent statements, because their texts are kept. */
  readonly prepares?: boolean;
  /**
   * A pooler hands out the server's connections for one transaction each, so nothing may be said to a connection that outlasts one: no time limit, no
   * prepared statement. The pooler has limits of its own.
   */
  readonly isByPooler?: boolean;
  /** Close a connection if a statement fails on it. For texts that begin a transaction themselves and leave it open when they fail. */
  readonly closesFailed?: boolean;
  readonly log: Log;
  /** A transaction was committed that asked for these by `notifyAfterCommit`. */
  readonly onCommitted?: (notifications: readonly Notification[]) => void;
}

/**
 * Connections for Kysely that fail one at a time: a connection that dies fails only its own statement, and one that leaves a statement
 * unanswered is closed, because the next statement would wait behind it.
 */
export class DatabasePool implements PostgresPool {
  readonly options: pg.PoolConfig;
  readonly #pool: pg.Pool;
  readonly #settings: DatabasePoolSettings;
  /** Name by text; null if nothing is prepared. */
  readonly #statementNames: Map<string, string> | null;
  #isAway = false;
  #isEnded = false;

  constructor(settings: DatabasePoolSettings) {
    const { connection, maxConnections, maxStatementMs, log } = settings;
    this.options = {
      ...connection,
      ...CONNECTION,
      ...(settings.connectWithinMs !== undefined && { connectionTimeoutMillis: settings.connectWithinMs }),
      max: maxConnections,
      ...(!settings.isByPooler && {
        statement_timeout: maxStatementMs,
        idle_in_transaction_session_timeout: MAX_IDLE_IN_TRANSACTION_MS,
      }),
    };
    this.#settings = settings;
    this.#statementNames = settings.prepares && !settings.isByPooler ? new Map() : null;
    this.#pool = new pg.Pool(this.options);
    // The pool listens only to idle connections, and an unhandled error event would end the process.
    this.#pool.on("connect", (client) => {
      client.on("error", ({ message }) => log.debug(`lost a connection to the database: ${message}`));
    });
    this.#pool.on("error", () => {});
  }

  async connect(): Promise<PostgresPoolClient> {
    if (this.#isEnded) throw new DatabaseClosed();
    const { maxWaiting = Number.POSITIVE_INFINITY } = this.#settings;
    if (this.#pool.waitingCount >= maxWaiting) throw new DatabaseBusy();
    const client = await this.#told(() => this.#pool.connect());
    return new PooledConnection(client, {
      ...this.#settings,
      statementNames: this.#statementNames,
      told: (action) => this.#told(action),
    });
  }

  end(): Promise<void> {
    this.#isEnded = true;
    return this.#pool.end();
  }

  counts(): { readonly open: number; readonly idle: number; readonly waiting: number } {
    return { open: this.#pool.totalCount, idle: this.#pool.idleCount, waiting: this.#pool.waitingCount };
  }

  /** Explains failures. Logs one line when the database becomes unavailable and one when it is back, however many statements fail in between. */
  async #told<Result>(action: () => Promise<Result>): Promise<Result> {
    try {
      const result = await action();
      this.#note(null);
      return result;
    } catch (error) {
      const failure = explainStatementFailure(error);
      this.#note(failure instanceof DatabaseAway ? failure : null);
      throw failure;
    }
  }

  #note(away: DatabaseAway | null): void {
    const isAway = away !== null;
    if (isAway === this.#isAway || this.#isEnded) return;
    this.#isAway = isAway;
    const { log } = this.#settings;
    if (away) log.warn({ err: away.cause }, "the database does not respond");
    else log.info("the database responds again");
  }
}

/** A statement as `pg` takes it. One with a name is prepared under it. */
interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly name?: string;
}

/** A client of `pg`, with the types of Kysely. */
interface CallingClient extends PostgresPoolClient {
  query<R>(statement: Statement, answered: (error: Error | null, result: PostgresQueryResult<R>) => void): void;
  query<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
}

interface PooledConnectionSettings
  extends Pick<DatabasePoolSettings, "closesFailed" | "maxStatementMs" | "onCommitted"> {
  readonly statementNames: Map<string, string> | null;
  readonly told: <Result>(action: () => Promise<Result>) => Promise<Result>;
}

/** What a statement answers that is kept for later. */
const NOTHING = { command: "SELECT", rowCount: 0, rows: [] } as const satisfies PostgresQueryResult<never>;

/** One use of a connection, from checkout to return. */
class PooledConnection implements PostgresPoolClient {
  readonly #client: CallingClient;
  readonly #settings: PooledConnectionSettings;
  #isLost = false;
  /** A statement got no answer in time: every further one would wait behind it. */
  #isSilent = false;
  /** To be sent after the commit; null outside a transaction. */
  #notifications: Notification[] | null = null;

  constructor(client: CallingClient, settings: PooledConnectionSettings) {
    this.#client = client;
    this.#settings = settings;
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

  async #ask<R>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>> {
    if (this.#notifications && text === NOTIFY_STATEMENT) {
      this.#notifications.push([String(parameters[0]), String(parameters[1])]);
      return NOTHING;
    }
    // The connection is closed when it is given back, which rolls back as well.
    if (this.#isSilent && text === "rollback") return NOTHING;
    try {
      const result = await this.#settings.told(() => this.#send<R>(text, parameters));
      if (parameters.length === 0) this.#noteTransaction(text);
      return result;
    } catch (error) {
      this.#isLost ||= this.#settings.closesFailed === true || error instanceof DatabaseAway;
      throw error;
    }
  }

  #noteTransaction(text: string): void {
    if (/^(begin|start transaction)/.test(text)) this.#notifications = [];
    else if (text === "commit") {
      this.#settings.onCommitted?.(this.#notifications ?? []);
      this.#notifications = null;
    } else if (text === "rollback") this.#notifications = null;
  }

  /**
   * By callback, and with a time limit of our own. With the promise or the time limit of `pg`, V8 keeps the rows of an answer until it next collects old objects:
   * 90,000 rows read in pages then stop the event loop for 20 ms each time that young objects are collected.
   */
  #send<R>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>> {
    const { maxStatementMs } = this.#settings;
    const name = this.#nameOf(text, parameters);
    const statement = { text, values: [...parameters], ...(name !== undefined && { name }) };
    return new Promise((resolve, reject) => {
      const ms = maxStatementMs + ANSWER_MARGIN_MS;
      const unanswered = () => {
        this.#isSilent = true;
        reject(new Error(`no answer to a statement within ${ms} ms`));
      };
      const limit = maxStatementMs > 0 ? setTimeout(unanswered, ms) : undefined;
      this.#client.query<R>(statement, (error, result) => {
        clearTimeout(limit);
        if (error) reject(error);
        else resolve(result);
      });
    });
  }

  /** The name that it is prepared under, if it is. */
  #nameOf(text: string, { length }: readonly unknown[]): string | undefined {
    const names = this.#settings.statementNames;
    // `begin` and the like have nothing to plan.
    if (!names || length === 0) return undefined;
    if (!names.has(text) && names.size < MAX_PREPARED) names.set(text, `weir_${names.size}`);
    return names.get(text);
  }
}
