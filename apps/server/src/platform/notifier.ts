import { type Kysely, sql, type Transaction } from "kysely";
import type { Log } from "./log.ts";
import { SharedWork } from "./shared-work.ts";

/** A channel and its payload. */
export type Notification = readonly [channel: string, payload: string];

/** As Kysely writes the statement of `notifyAfterCommit`. */
export const NOTIFY_STATEMENT = "select pg_notify($1, $2)";

/**
 * Notify a channel once the transaction is committed, or not at all. NOTIFY holds a lock of the whole server over the commit of its transaction, and
 * so would have all writers wait for each other's disk: the connection keeps this statement until then, and hands it to the `Notifier`. A process that
 * dies in between sends nothing, so every listener also looks by itself.
 */
export async function notifyAfterCommit<Schema>(
  trx: Transaction<Schema>,
  channel: string,
  payload: string,
): Promise<void> {
  await sql`select pg_notify(${channel}, ${payload})`.execute(trx);
}

/** Sends the notifications of committed transactions. Those that come while it sends go together, in one statement that waits for no disk. */
export class Notifier {
  readonly #db: Kysely<unknown>;
  readonly #log: Log;
  #waiting: Notification[] = [];
  readonly #sending = new SharedWork();

  constructor(db: Kysely<unknown>, log: Log) {
    this.#db = db;
    this.#log = log;
  }

  send(notifications: readonly Notification[]): void {
    if (notifications.length === 0) return;
    this.#waiting.push(...notifications);
    void this.#sending.run(() => this.#sendAll());
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await sql`select set_config('synchronous_commit', 'off', true), pg_notify(channel, payload)
          from unnest(${batch.map(([channel]) => channel)}::text[], ${batch.map(([, payload]) => payload)}::text[]) as f(channel, payload)`.execute(
          this.#db,
        );
      } catch (error) {
        this.#log.debug(
          { err: error, notifications: batch.length },
          "notifications were lost; their listeners look by themselves",
        );
      }
    }
  }
}
