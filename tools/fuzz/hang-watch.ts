/** An input that takes more time of the CPU is a finding: how long a busy machine lets it wait says nothing about a reader. */
export const LONGEST_MS = 1_000;
const LOOK_MS = 100;

export const TOO_LONG = `an input takes longer than ${LONGEST_MS} ms`;

/** Of all threads, in microseconds. While one of them reads inputs, the others wait. */
const cpuMicroseconds = (): bigint => {
  const { user, system } = process.cpuUsage();
  return BigInt(user + system);
};

/** Since when a thread reads an input, where its parent sees it, also while the thread hangs. */
export class ReadingSince {
  /** In microseconds of the CPU; 0 while it reads none. */
  readonly shared: BigInt64Array<SharedArrayBuffer>;
  readonly #now: () => bigint;

  constructor(shared = new BigInt64Array(new SharedArrayBuffer(8)), now = cpuMicroseconds) {
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
    return since !== 0n && this.#now() - since > BigInt(LONGEST_MS) * 1_000n;
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
