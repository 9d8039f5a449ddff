import type { Cut, Sample } from "../timeline/timeline-sink.ts";

const MAX_BYTES = 16 * 1024 * 1024;
/** However small they are: a minute of 60 pictures a second. */
const MAX_ENTRIES = 3600;

export type GopEntry = Cut | Sample;

/**
 * The source's pictures since its last IDR, and the cut that their segment began with: they bring a fresh transcoder to where the one before
 * was. It retains what it keeps.
 */
export class GopCache {
  #cut: Cut | null = null;
  #entries: GopEntry[] = [];
  #bytes = 0;
  /** Nothing can be replayed before the next IDR. */
  #isBroken = true;

  /** In the order in which they came. */
  get entries(): readonly GopEntry[] {
    if (this.#isBroken) return this.#cut ? [this.#cut] : [];
    return this.#entries;
  }

  /** A cut comes before the picture it concerns. */
  cut(cut: Cut): void {
    this.#cut = cut;
    if (!this.#isBroken) this.#add(cut);
  }

  sample(picture: Sample): void {
    if (picture.isIndependent) {
      this.#releasePictures();
      this.#isBroken = false;
      if (this.#cut) this.#add(this.#cut);
    }
    if (this.#isBroken) return;
    picture.data.retain();
    this.#bytes += picture.data.byteLength;
    this.#add(picture);
  }

  /** Nothing of before belongs to what follows. */
  clear(): void {
    this.#releasePictures();
    this.#cut = null;
  }

  #add(entry: GopEntry): void {
    this.#entries.push(entry);
    if (this.#bytes > MAX_BYTES || this.#entries.length > MAX_ENTRIES) this.#releasePictures();
  }

  #releasePictures(): void {
    for (const entry of this.#entries) if (isSample(entry)) entry.data.release();
    this.#entries = [];
    this.#bytes = 0;
    this.#isBroken = true;
  }
}

/** Tells pictures from the cuts between them. */
export function isSample(entry: GopEntry): entry is Sample {
  return "data" in entry;
}
