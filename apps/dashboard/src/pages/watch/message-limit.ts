/** More than a person's page sends: each may move the video. */
const MAX_COMMANDS_A_SECOND = 20;
const SECOND_MS = 1000;

/** Bounds what a page may have the player do, whatever it sends. */
export class MessageLimit {
  readonly #now: () => number;
  #since = Number.NEGATIVE_INFINITY;
  #commands = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether one more command is obeyed. */
  take(): boolean {
    if (this.#now() - this.#since >= SECOND_MS) {
      this.#since = this.#now();
      this.#commands = 0;
    }
    return ++this.#commands <= MAX_COMMANDS_A_SECOND;
  }
}

/** Passes the first value on at once, and of those that follow within a second the last one. */
export function lastInASecond<Value>(take: (value: Value) => void): (value: Value) => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let next: { readonly value: Value } | null = null;
  const rest = (): void => {
    timer = undefined;
    if (next !== null) pass(next.value);
  };
  const pass = (value: Value): void => {
    next = null;
    timer = setTimeout(rest, SECOND_MS);
    take(value);
  };
  return (value) => {
    if (timer === undefined) pass(value);
    else next = { value };
  };
}
