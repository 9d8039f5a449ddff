import type { Clock } from "./clock.ts";

/** As long may one piece of long work hold up everybody else. */
const SLICE_MS = 5;
/** Items between two looks at the clock. */
const LOOK_EVERY = 16;

/**
 * Work on the event loop that is too long to be done at once: it is done in slices, one in each turn of the loop, however many jobs there are,
 * and the jobs take turns.
 */
export class Slices {
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async forEach<Item>(items: Iterable<Item>, visit: (item: Item) => void): Promise<void> {
    await this.#turn();
    let until = this.#clock.monotonic() + SLICE_MS;
    let visited = 0;
    for (const item of items) {
      visit(item);
      visited++;
      if (visited % LOOK_EVERY !== 0 || this.#clock.monotonic() < until) continue;
      await this.#turn();
      until = this.#clock.monotonic() + SLICE_MS;
    }
  }

  #turn(): Promise<void> {
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
