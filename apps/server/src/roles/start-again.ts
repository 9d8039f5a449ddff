import type { Clock } from "../platform/clock.ts";
import { DatabaseAway } from "../platform/database-away.ts";
import type { Log } from "../platform/log.ts";
import { BackOff, sleep } from "../platform/retry.ts";
import { StartupError } from "../platform/startup-error.ts";

/** As long as a start waits for a database that is away when it begins. */
const STARTS_WITHIN_MS = 30_000;

export interface StartAgainSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly signal?: AbortSignal;
}

/**
 * Start, and anew where the database is cut off, or too slow, in the middle of it: a failed start has closed what it opened. Throws `StartupError` if that goes on
 * for 30 s.
 */
export async function startAgainWhileAway<Started>(
  start: () => Promise<Started>,
  { clock, log, signal }: StartAgainSettings,
): Promise<Started> {
  const backOff = new BackOff(500, 4_000);
  const deadline = clock.monotonic() + STARTS_WITHIN_MS;
  for (;;) {
    try {
      return await start();
    } catch (error) {
      const away = causeOf(error);
      if (!(away instanceof DatabaseAway) || signal?.aborted) throw error;
      if (clock.monotonic() > deadline) {
        const { cause = away } = away;
        const why = cause instanceof Error ? cause.message : String(cause);
        throw new StartupError(`the database does not answer (${why}): check DATABASE_URL and that the server runs`);
      }
      log.warn({ err: away }, "the database went away during the start; starting again");
      await sleep(clock, backOff.next());
    }
  }
}

/** What failed first, where closing what had been opened failed as well. */
function causeOf(error: unknown): unknown {
  return error instanceof SuppressedError ? causeOf(error.suppressed) : error;
}
