import type { Cut, Sample } from "../timeline/timeline-sink.ts";

const MAX_BYTES = 16 * 1024 * 1024;
/** However small they are: 2 minutes at 60 pictures a second. */
const MAX_ENTRIES = 7200;

export type GopEntry = { readonly cut: Cut } | { readonly sample: Sample };

/**
 * The source's video since its last IDR, and the cut that the segment began with: what brings a new reader, or a fresh transcoder, to
 * where the others are. It retains what it keeps.
 */
export class GopCache {
  #cut: Cut | null = null;
  #entries: GopEntry[] = [];
  #bytes = 0;
  /** Nothing can be replayed before the next IDR. */
  #isBroken = true;

  /** In the order in which they came. */
  get entries(): readonly GopEntry[] {
    if (this.#isBroken) return this.#cut ? [{ cut: this.#cut }] : [];
    return this.#entries;
  }

  /** A cut comes before the sample it concerns. */
  cut(cut: Cut): void {
    this.#cut = cut;
    if (!this.#isBroken) this.#add({ cut });
  }

  sample(sample: Sample): void {
    if (sample.isIndependent) {
      this.clear();
      this.#isBroken = false;
      if (this.#cut) this.#add({ cut: this.#cut });
    }
    if (this.#isBroken) return;
    sample.data.retain();
    this.#bytes += sample.data.bytes.byteLength;
    this.#add({ sample });
  }

  clear(): void {
    for (const entry of this.#entries) if ("sample" in entry) entry.sample.data.release();
    this.#entries = [];
    this.#bytes = 0;
    this.#isBroken = true;
  }

  #add(entry: GopEntry): void {
    this.#entries.push(entry);
    if (this.#bytes > MAX_BYTES || this.#entries.length > MAX_ENTRIES) this.clear();
  }
}
