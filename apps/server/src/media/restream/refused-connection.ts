import type { Clock, Timer } from "../../platform/clock.ts";
import { failureOf } from "../../platform/outbound/outbound.ts";
import type { TargetConnection, TargetConnectionHandler, TargetFailure } from "./target-connection.ts";

/** A connection that fails without having been opened. It reports the failure asynchronously, as a real one does. */
export class RefusedConnection implements TargetConnection {
  readonly queuedBytes = 0;
  readonly #telling: Timer;

  constructor(clock: Clock, handler: TargetConnectionHandler, failure: TargetFailure) {
    this.#telling = clock.after(0, () => handler.failed(failure));
  }

  write(): void {}

  close(): void {
    this.destroy();
  }

  destroy(): void {
    this.#telling.cancel();
  }
}

/** The failure of an address to which nothing may be sent. `why` completes the sentence. */
export const refusedTarget = (why: string): TargetFailure => ({
  reason: `The stream cannot be sent to this address: ${why}.`,
  isTemporary: false,
});

/** The failure for a connection error. */
export function failureOfConnection(error: unknown): TargetFailure {
  const { sentence, isRefused } = failureOf(error instanceof Error ? error : new Error(String(error)));
  return isRefused
    ? refusedTarget(sentence)
    : { reason: `The target cannot be reached: ${sentence}.`, isTemporary: true };
}
