/** An input that takes longer is a finding. */
export const LONGEST_MS = 1_000;
const LOOK_MS = 100;
const NANOSECONDS = 1_000_000n;

export const TOO_LONG = `an input takes longer than ${LONGEST_MS} ms`;

/** Since when a thread reads an input, where its parent sees it, also while the thread hangs. */
export class ReadingSince {
  /** In nanoseconds of `process.hrtime`, which all threads share; 0 while it reads none. */
  readonly shared: BigInt64Array<SharedArrayBuffer>;
  readonly #now: () => bigint;

  constructor(shared = new BigInt64Array(new SharedArrayBuffer(8)), now = () => process.hrtime.bigint()) {
    this.shared = shared;
    this.#now = now;
  }

  begin(): void {
    Atomics.store(this.shared, 0, this.#now());
  }

  /** Whether the reading took too long. */
  end(): boolean {
    const isLate = this.isLate();
    Atomics.store(this.shared, 0, 0n);
    return isLate;
  }

  isLate(): boolean {
    const since = Atomics.load(this.shared, 0);
    return since !== 0n && this.#now() - since > BigInt(LONGEST_MS) * NANOSECONDS;
  }
}

/** Calls `hung` once, when a thread reads an input for too long. The caller clears the timer when the thread has ended. */
export function watchFor(reading: ReadingSince, hung: () => void): NodeJS.Timeout {
  const watch = setInterval(() => {
    if (!reading.isLate()) return;
    clearInterval(watch);
    hung();
  }, LOOK_MS);
  return watch;
}
