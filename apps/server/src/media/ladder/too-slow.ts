import type { Rung } from "./ladder-plan.ts";

/** Consecutive segments behind real time, about 20 s, until a machine counts as too slow rather than busy (lifecycles.md, transcoding). */
const SEGMENTS_BEHIND = 10;

/** The rungs that a session drops because the machine is too slow for them: the largest first, the last one never. */
export class TooSlow {
  readonly #leftOut = new Set<number>();
  readonly #largestFirst: readonly Rung[];
  #behind = 0;

  constructor(rungs: readonly Rung[]) {
    this.#largestFirst = rungs.toSorted((a, b) => b.width * b.height - a.width * a.height);
  }

  /** Indices of rungs. */
  get leftOut(): ReadonlySet<number> {
    return this.#leftOut;
  }

  /** A sentence while a rung is dropped, otherwise null. */
  get reason(): string | null {
    const names = this.#largestFirst.filter(({ index }) => this.#leftOut.has(index)).map(({ name }) => name);
    if (names.length === 0) return null;
    return `${names.join(", ")} ${names.length === 1 ? "is" : "are"} dropped until the session ends, because this machine cannot keep up: use fewer or smaller profiles, or add a machine`;
  }

  /** A segment was encoded, in time or not. Returns the rung that is dropped from now on. */
  segment(isBehind: boolean): Rung | null {
    this.#behind = isBehind ? this.#behind + 1 : 0;
    const made = this.#largestFirst.filter(({ index }) => !this.#leftOut.has(index));
    const [largest] = made;
    if (this.#behind < SEGMENTS_BEHIND || !largest || made.length === 1) return null;
    this.#behind = 0;
    this.#leftOut.add(largest.index);
    return largest;
  }
}
