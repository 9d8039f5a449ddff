import type { Clock } from "./clock.ts";

/** Longest time that one piece of long work may block the event loop. */
const SLICE_MS = 5;
/** Items between two checks of the clock, unless each is long itself. */
const LOOK_EVERY = 16;

interface SliceOptions {
  readonly lookEvery?: number;
  /** The first slice belongs to the turn that asks: for what somebody waits for, and is mostly short. */
  readonly startsNow?: boolean;
}

/** Runs work that would block the event loop for too long in slices, one per turn of the loop. With several jobs, the jobs take turns. */
export class Slices {
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async forEach<Item>(
    items: Iterable<Item>,
    visit: (item: Item) => void,
    { lookEvery = LOOK_EVERY, startsNow = false }: SliceOptions = {},
  ): Promise<void> {
    if (!startsNow) await this.turn();
    let until = this.#clock.monotonic() + SLICE_MS;
    let visited = 0;
    for (const item of items) {
      visit(item);
      visited++;
      if (visited % lookEvery !== 0 || this.#clock.monotonic() < until) continue;
      await this.turn();
      until = this.#clock.monotonic() + SLICE_MS;
    }
  }

  /** Resolves in a turn of its own. */
  turn(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) setImmediate(this.#next);
    });
  }

  readonly #next = (): void => {
    const [begin] = this.#waiting.splice(0, 1);
    if (this.#waiting.length > 0) setImmediate(this.#next);
    begin?.();
  };
}
