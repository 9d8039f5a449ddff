import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { parentPort, workerData } from "node:worker_threads";
import { Chance } from "../../apps/server/test/support/chance.ts";
import { corpusOf } from "./corpus.ts";
import { type FuzzTarget, tryInput, utf8 } from "./fuzz-target.ts";
import { ReadingSince, TOO_LONG } from "./hang-watch.ts";
import { mutated } from "./mutate.ts";
import { ReachedCode } from "./reached-code.ts";
import { targetNamed } from "./targets.ts";

/** What the thread is asked to do. */
export interface FuzzOrder {
  readonly target: string;
  readonly seed: number;
  readonly inputs: number;
  /** The number of the input that is being read, where the parent sees it. */
  readonly at: Int32Array;
  /** Of `ReadingSince`. */
  readonly since: BigInt64Array<SharedArrayBuffer>;
  /** That input: its length in four bytes, then its bytes. */
  readonly current: Uint8Array;
}

/** What the thread tells. `kept` inputs reached code that none before them did. */
export type FuzzReport =
  | { readonly type: "kept"; readonly input: Uint8Array }
  | { readonly type: "finding"; readonly input: Uint8Array; readonly error: string }
  | { readonly type: "end"; readonly inputs: number; readonly characters: number; readonly grownBytes: number };

/** Looking at the code that ran takes a tenth of a second and more: once for so many inputs, more while none reaches new code. */
const BATCH = { first: 256, most: 4_096 };
/** Behind these, code is compiled and caches are full. */
const WARM = 0.2;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

class Fuzzing {
  readonly #order: FuzzOrder;
  readonly #target: FuzzTarget;
  readonly #words: readonly Uint8Array[];
  readonly #chance: Chance;
  readonly #reached = new ReachedCode();
  readonly #inputs: Uint8Array[];
  readonly #reading: ReadingSince;
  #done = 0;

  constructor(order: FuzzOrder) {
    this.#order = order;
    this.#target = targetNamed(order.target);
    this.#words = (this.#target.words ?? []).map(utf8);
    this.#chance = new Chance(order.seed);
    this.#reading = new ReadingSince(order.since);
    this.#inputs = [...this.#target.seeds, ...corpusOf(this.#target)];
  }

  run(): void {
    for (const input of this.#inputs) this.#try(input);
    this.#reached.hasNew({ kept: true });
    const { inputs } = this.#order;
    let [warmBytes, length] = [Number.POSITIVE_INFINITY, BATCH.first];
    while (this.#done < inputs) {
      if (warmBytes === Number.POSITIVE_INFINITY && this.#done > WARM * inputs) warmBytes = usedBytes();
      const batch = Array.from({ length }, () => mutated(this.#inputs, this.#words, this.#chance));
      for (const input of batch) this.#try(input);
      const isNew = this.#reached.hasNew({ kept: false });
      if (isNew) this.#keepNew(batch);
      length = isNew ? BATCH.first : Math.min(2 * length, BATCH.most);
    }
    const grownBytes = Math.max(0, usedBytes() - warmBytes);
    tell({ type: "end", inputs: this.#done, characters: this.#reached.characters, grownBytes });
  }

  /** Finds the inputs of a batch that reached new code, by halves. */
  #keepNew(batch: readonly Uint8Array[]): void {
    const [only] = batch;
    this.#reached.skip();
    for (const input of batch) this.#try(input);
    if (!this.#reached.hasNew({ kept: batch.length === 1 }) || !only) return;
    if (batch.length === 1) {
      this.#inputs.push(only);
      return tell({ type: "kept", input: only });
    }
    const middle = batch.length >> 1;
    this.#keepNew(batch.slice(0, middle));
    this.#keepNew(batch.slice(middle));
  }

  #try(input: Uint8Array): void {
    const { at, current } = this.#order;
    new DataView(current.buffer).setUint32(0, input.length);
    current.set(input, 4);
    Atomics.store(at, 0, ++this.#done);
    this.#reading.begin();
    try {
      tryInput(this.#target, input);
    } catch (error) {
      tell({ type: "finding", input, error: (error as Error).stack ?? String(error) });
    }
    if (this.#reading.end()) tell({ type: "finding", input, error: TOO_LONG });
  }
}

function usedBytes(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function tell(report: FuzzReport): void {
  parentPort?.postMessage(report);
}

new Fuzzing(workerData as FuzzOrder).run();
