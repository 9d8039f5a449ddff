import { Session } from "node:inspector";

interface Reached {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly ranges: readonly { readonly startOffset: number; readonly endOffset: number; readonly count: number }[];
    }[];
  }[];
}

const OURS = /\/(packages|apps)\/.*\.ts$/;

/** Tells which code of this project has run in this thread, by V8's own counts. */
export class ReachedCode {
  readonly #session = new Session();
  /** Of each file, a 1 for every character that has run. */
  readonly #seen = new Map<string, Uint8Array>();

  constructor() {
    this.#session.connect();
    this.#post("Profiler.enable");
    this.#post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  }

  /** Characters of code that have run. */
  get characters(): number {
    return [...this.#seen.values()].reduce((sum, ran) => sum + ran.reduce((all, one) => all + one, 0), 0);
  }

  /** Forgets what ran since the last call. */
  skip(): void {
    this.#post("Profiler.takePreciseCoverage");
  }

  /** Whether code ran since the last call that never ran before one of them. What is `kept` is not new the next time. */
  hasNew({ kept }: { readonly kept: boolean }): boolean {
    const { result } = this.#post("Profiler.takePreciseCoverage") as Reached;
    let isNew = false;
    for (const { url, functions } of result) {
      if (!OURS.test(url)) continue;
      const ran = ranIn(functions);
      const seen = this.#seen.get(url) ?? new Uint8Array(ran.length);
      if (!ran.some((one, at) => one > (seen[at] ?? 0))) continue;
      isNew = true;
      if (kept) this.#seen.set(url, seen.length < ran.length ? either(ran, seen) : either(seen, ran));
    }
    return isNew;
  }

  close(): void {
    this.#session.disconnect();
  }

  #post(method: string, params: object = {}): unknown {
    let answer: unknown;
    // In the thread of the session the answer comes before `post` returns.
    this.#session.post(method, params, (error, result) => {
      if (error) throw new Error(`${method}: ${error.message}`);
      answer = result;
    });
    return answer;
  }
}

/** The ranges of V8 depend on which of them ran equally often; the characters in them do not. */
function ranIn(functions: Reached["result"][number]["functions"]): Uint8Array {
  const ends = functions.flatMap(({ ranges }) => ranges.map(({ endOffset }) => endOffset));
  const ran = new Uint8Array(Math.max(0, ...ends));
  // Each is named before those inside it.
  for (const { ranges } of functions)
    for (const { startOffset, endOffset, count } of ranges) ran.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  return ran;
}

function either(longer: Uint8Array, shorter: Uint8Array): Uint8Array {
  return longer.map((one, at) => one | (shorter[at] ?? 0));
}
