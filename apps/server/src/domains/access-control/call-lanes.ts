import { TooManyWaiting, Turns } from "../../platform/limits/turns.ts";

/** Limits the calls per receiver, both concurrent and waiting. A slow receiver delays no other receiver's calls. */
export class CallLanes {
  readonly #limits: { readonly atATime: number; readonly maxWaiting: number };
  readonly #lanes = new Map<string, Turns>();

  constructor(limits: { readonly atATime: number; readonly maxWaiting: number }) {
    this.#limits = limits;
  }

  /** Runs `call` in its turn, or answers `otherwise` at once if too many are waiting. */
  async run<Value>(receiver: string, call: () => Promise<Value>, otherwise: Value): Promise<Value> {
    const lane = this.#lanes.get(receiver) ?? new Turns(this.#limits);
    this.#lanes.set(receiver, lane);
    try {
      return await lane.run(call);
    } catch (error) {
      if (error instanceof TooManyWaiting) return otherwise;
      throw error;
    } finally {
      if (lane.isIdle) this.#lanes.delete(receiver);
    }
  }
}
