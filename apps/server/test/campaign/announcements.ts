import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { PostgresAddress } from "../../src/platform/postgres/embedded-postgres.ts";
import { UntilStopped } from "./until-stopped.ts";

const CHANNEL = "events";
const CONNECT_WITHIN_MS = 5_000;
const TRY_AGAIN_MS = 500;

/** What the server announces of its logs in the database, heard past the server. It hears nothing while the database is away. */
export class Announcements implements AsyncDisposable {
  readonly #times = new Map<string, number>();
  readonly #work: UntilStopped;

  constructor({ host, port, user, database }: PostgresAddress) {
    this.#work = new UntilStopped(async (signal) => {
      while (!signal.aborted) {
        const client = new pg.Client({ host, port, user, database, connectionTimeoutMillis: CONNECT_WITHIN_MS });
        const { promise: over, resolve } = Promise.withResolvers<void>();
        client.on("error", () => resolve()).on("end", resolve);
        client.on("notification", ({ payload = "" }) => {
          for (const id of payload.split(",")) this.#times.set(id, this.timesOf(id) + 1);
        });
        signal.addEventListener("abort", () => resolve(), { once: true });
        await client
          .connect()
          .then(() => client.query(`listen ${CHANNEL}`))
          .then(() => over)
          // A fault of the database: it is asked again until it is back.
          .catch(() => {});
        await client.end().catch(() => {});
        if (!signal.aborted) await sleep(TRY_AGAIN_MS);
      }
    });
  }

  /** How often it was announced that the log of a stream has grown, also by several events at once. */
  timesOf(streamId: string): number {
    return this.#times.get(streamId) ?? 0;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#work.stop();
  }
}
