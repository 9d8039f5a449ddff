import { spanName } from "../stored/layout.ts";
import type { PlacedSegment } from "./dvr-list.ts";
import { type DvrPlace, Names, spanMsnOf } from "./segment-block.ts";

/** Numbers of a row. */
const WIDTH = 11;
const FIRST_ROWS = 512;
/** With more, a number and its row would not be one exact key. */
const MAX_ROWS = 1 << 20;
/** Twelve days of segments of 2 s. Nobody can go back further than seven. */
const KEPT_NUMBERS = MAX_ROWS / 2;
const [DISCONTINUITY, INDEPENDENT, HAS_PLACE] = [1, 2, 4];

/**
 * Segments of one rendition as they are found: in any order, some of them twice. Numbers in one array, because the garbage collector copies objects that live
 * for a moment: those of half a day stop the event loop for 20 ms.
 */
export class PlacedRows {
  readonly #inits = new Names();
  #numbers = new Float64Array(FIRST_ROWS * WIDTH);
  #count = 0;

  add({
    msn,
    startSeconds,
    seconds,
    programDateTimeMs,
    discontinuity,
    isIndependent,
    init,
    place,
  }: PlacedSegment): void {
    if (this.#count === MAX_ROWS) this.#forgetOldest();
    const at = this.#count++ * WIDTH;
    if (at === this.#numbers.length) this.#grow();
    const flags =
      (discontinuity ? DISCONTINUITY : 0) | (isIndependent ? INDEPENDENT : 0) | (place !== null ? HAS_PLACE : 0);
    const nameOfInit = init === null ? 0 : this.#inits.indexOf(init);
    this.#numbers.set([msn, startSeconds, seconds, programDateTimeMs, flags, nameOfInit], at);
    if (!place) return;
    const { epoch, span, offset, length, keyframeBytes = 0 } = place;
    this.#numbers.set([epoch, spanMsnOf(span), offset, length, keyframeBytes], at + 6);
  }

  /** Each number once: of a number that was found twice, the last that has a place. */
  *inOrder(): Generator<PlacedSegment, void> {
    const keys = new Float64Array(this.#count);
    for (let row = 0; row < this.#count; row++) keys[row] = (this.#numbers[row * WIDTH] ?? 0) * MAX_ROWS + row;
    keys.sort();
    let found: PlacedSegment | null = null;
    for (const key of keys) {
      const segment = this.#at(key % MAX_ROWS);
      if (found?.msn !== segment.msn) {
        if (found) yield found;
        found = segment;
      } else if (segment.place !== null) found = segment;
    }
    if (found) yield found;
  }

  #at(row: number): PlacedSegment {
    const number = (field: number): number => this.#numbers[row * WIDTH + field] ?? 0;
    const [flags, init, epoch] = [number(4), number(5), number(6)];
    const place = (): DvrPlace => ({
      ...{ epoch, span: spanName(epoch, number(7)) },
      ...{ offset: number(8), length: number(9), keyframeBytes: number(10) },
    });
    return {
      ...{ msn: number(0), startSeconds: number(1), seconds: number(2), programDateTimeMs: number(3) },
      discontinuity: (flags & DISCONTINUITY) !== 0,
      isIndependent: (flags & INDEPENDENT) !== 0,
      init: init === 0 ? null : this.#inits.at(init),
      place: flags & HAS_PLACE ? place() : null,
    };
  }

  /** A session may be live for months: viewers can go back to its end alone. */
  #forgetOldest(): void {
    const numbers = this.#numbers;
    let newest = 0;
    for (let at = 0; at < numbers.length; at += WIDTH) newest = Math.max(newest, numbers[at] ?? 0);
    let kept = 0;
    for (let at = 0; at < numbers.length; at += WIDTH)
      if ((numbers[at] ?? 0) > newest - KEPT_NUMBERS) numbers.copyWithin(kept++ * WIDTH, at, at + WIDTH);
    if (kept === MAX_ROWS) throw new Error(`${KEPT_NUMBERS} segments of a session have more than ${MAX_ROWS} rows`);
    // Of a row without a place, the fields behind are not written.
    numbers.fill(0, kept * WIDTH);
    this.#count = kept;
  }

  #grow(): void {
    const numbers = new Float64Array(this.#numbers.length * 2);
    numbers.set(this.#numbers);
    this.#numbers = numbers;
  }
}
