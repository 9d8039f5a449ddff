import type { Clock, Timer } from "../../platform/clock.ts";
import { failureOf } from "../../platform/outbound/outbound.ts";
import type { TargetConnection, TargetConnectionHandler, TargetFailure } from "./target-connection.ts";

/** No connection. Told as a failure is, a moment later. */
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

/** The failure of an address that leads to where nothing may be sent; `why` ends a sentence. */
export const refusalOf = (why: string): TargetFailure => ({
  reason: `The stream cannot be sent to this address: ${why}.`,
  mayHeal: false,
});

/** The failure of a connection to a target, as the error of the way there tells it. */
export function failureOfConnection(error: unknown): TargetFailure {
  const { sentence, isRefused } = failureOf(error instanceof Error ? error : new Error(String(error)));
  return isRefused ? refusalOf(sentence) : { reason: `The target cannot be reached: ${sentence}.`, mayHeal: true };
}
