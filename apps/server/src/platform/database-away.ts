import pg from "pg";

/**
 * By these SQLSTATE codes a server says that it, or this connection to it, cannot be used now: connection lost (08), out of connections,
 * memory or disk (53), shutting down, crashed or starting (57P0x), a statement or transaction that took too long, and a server that became
 * a read-only replica.
 */
const AWAY_CODE = /^(08...|53...|57P0.|57014|25P03|25P04|25006)$/;

/**
 * Whether a failed statement says that the database is away, as against an answer to the statement. What pg throws by itself is no answer:
 * refused and lost connections, and time-outs of a connection, a statement or the wait for a connection.
 */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return AWAY_CODE.test(error.code ?? "");
  return error instanceof Error && !(error instanceof TypeError) && !(error instanceof RangeError);
}
