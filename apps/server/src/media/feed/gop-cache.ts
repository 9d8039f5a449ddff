import type { Cut, Sample } from "../timeline/timeline-sink.ts";

const MAX_BYTES = 16 * 1024 * 1024;
/** However small they are: a minute of 60 pictures and 47 audio frames a second. */
const MAX_ENTRIES = 6420;

export type GopEntry = Cut | Sample;

/**
 * The source's samples since its last IDR, and the cut that the segment began with: what brings a new reader, or a fresh transcoder, to
 * where the others are. It retains what it keeps.
 */
export class GopCache {
  #cut: Cut | null = null;
  #entries: GopEntry[] = [];
  #bytes = 0;
  /** Nothing can be replayed before the next IDR. */
  #isBroken = true;

  /** The newest cut. */
  get newestCut(): Cut | null {
    return this.#cut;
  }

  /** True where the entries begin with an IDR. */
  get isWhole(): boolean {
    return !this.#isBroken;
  }

  /** In the order in which they came. */
  get entries(): readonly GopEntry[] {
    if (this.#isBroken) return this.#cut ? [this.#cut] : [];
    return this.#entries;
  }

  /** A cut comes before the sample it concerns. */
  cut(cut: Cut): void {
    this.#cut = cut;
    if (!this.#isBroken) this.#add(cut);
  }

  sample(sample: Sample): void {
    if (sample.kind === "video" && sample.isIndependent) {
      this.releaseSamples();
      this.#isBroken = false;
      if (this.#cut) this.#add(this.#cut);
    }
    if (this.#isBroken) return;
    sample.data.retain();
    this.#bytes += sample.data.byteLength;
    this.#add(sample);
  }

  /** Keep the newest cut alone. */
  releaseSamples(): void {
    for (const entry of this.#entries) if (isSample(entry)) entry.data.release();
    this.#entries = [];
    this.#bytes = 0;
    this.#isBroken = true;
  }

  /** Nothing of before belongs to what follows. */
  clear(): void {
    this.releaseSamples();
    this.#cut = null;
  }

  #add(entry: GopEntry): void {
    this.#entries.push(entry);
    if (this.#bytes > MAX_BYTES || this.#entries.length > MAX_ENTRIES) this.releaseSamples();
  }
}

/** Tells samples from what comes between them. */
export function isSample(entry: object): entry is Sample {
  return "data" in entry;
}
