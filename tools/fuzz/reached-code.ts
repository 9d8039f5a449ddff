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

/** Tells which blocks of this project's code have run in this thread, by V8's own counts. */
export class ReachedCode {
  readonly #session = new Session();
  readonly #seen = new Set<string>();

  constructor() {
    this.#session.connect();
    this.#post("Profiler.enable");
    this.#post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  }

  get blocks(): number {
    return this.#seen.size;
  }

  /** Forgets what ran since the last call. */
  skip(): void {
    this.#post("Profiler.takePreciseCoverage");
  }

  /** Whether a block ran since the last call that never ran before one of them. Those that are `kept` are not new the next time. */
  hasNew({ kept }: { readonly kept: boolean }): boolean {
    const { result } = this.#post("Profiler.takePreciseCoverage") as Reached;
    let isNew = false;
    for (const { url, functions } of result) {
      if (!OURS.test(url)) continue;
      for (const { ranges } of functions) {
        for (const { startOffset, endOffset, count } of ranges) {
          const block = `${url}:${startOffset}-${endOffset}`;
          if (count === 0 || this.#seen.has(block)) continue;
          isNew = true;
          if (kept) this.#seen.add(block);
        }
      }
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
