import pg from "pg";

/**
 * With these SQLSTATE codes a server says that it, or this connection, is unusable for now: connection lost (08), out of connections, memory or
 * disk (53), shutting down, crashed or starting (57P0x), a statement or transaction that took too long, or a server that became a read-only
 * replica.
 */
const AWAY_CODE = /^(08...|53...|57P0.|57014|25P03|25P04|25006)$/;

/**
 * The database gave no answer to a statement: the connection was refused or lost, or the server, the statement or the wait for a connection took
 * too long. The statement may or may not have had an effect. Every statement of `Database` that fails this way throws it.
 */
export class DatabaseAway extends Error {
  readonly statusCode = 503;
  readonly code: string = "database-away";

  constructor(cause?: unknown, message = "the database does not answer right now: try again in a few seconds") {
    super(message, { cause });
  }
}

/** Too many statements of this kind are waiting, so this one was not sent. */
export class DatabaseBusy extends DatabaseAway {
  override readonly code = "database-busy";

  constructor() {
    super(undefined, "too many such requests wait for the database: try again in a few seconds");
  }
}

/** The process is shutting down, and has closed its connections. */
export class DatabaseClosed extends DatabaseAway {
  constructor() {
    super(undefined, "this server is shutting down: try another one, or again in a minute");
  }
}

/** Whether an error, or a copy of one, is a `DatabaseAway`. */
export function isDatabaseAway({ code }: { readonly code?: string }): boolean {
  return code === "database-away" || code === "database-busy";
}

/** The failure of a statement, as `DatabaseAway` if it is not an answer to the statement. */
export function explainStatementFailure(error: unknown): unknown {
  return isAway(error) ? new DatabaseAway(error) : error;
}

function isAway(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return AWAY_CODE.test(error.code ?? "");
  // Every other error of pg is about its connection, except for values that it cannot send.
  return error instanceof Error && !(error instanceof TypeError) && !(error instanceof RangeError);
}
