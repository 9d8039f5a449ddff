import type { Clock, Timer } from "../../platform/clock.ts";
import type { TargetConnection, TargetConnectionHandler } from "./target-connection.ts";

/** No connection: nothing may be sent to the address. Told as a failure is, a moment later. */
export class RefusedConnection implements TargetConnection {
  readonly queuedBytes = 0;
  readonly #telling: Timer;

  /** `why`: what speaks against the address, as the end of a sentence. */
  constructor(clock: Clock, handler: TargetConnectionHandler, why: string) {
    this.#telling = clock.after(0, () => handler.failed(refusalOf(why)));
  }

  write(): void {}

  close(): void {
    this.destroy();
  }

  destroy(): void {
    this.#telling.cancel();
  }
}

/** The failure of an address that leads to where nothing may be sent. */
export const refusalOf = (why: string) => ({
  reason: `The stream cannot be sent to this address: ${why}.`,
  mayHeal: false,
});
