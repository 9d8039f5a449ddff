import { LRUCache } from "lru-cache";
import type { Clock } from "../../../platform/clock.ts";
import { Turns } from "../../../platform/limits/turns.ts";
import { Slices } from "../../../platform/slices.ts";
import type { MediaIndex, PlaybackGate, StoredContent } from "../../../ports/index.ts";
import { OpenMedia, type ReadFile } from "../../stored/open-media.ts";

const KEEP_MS = 60_000;
/** While more renditions are being made. */
const KEEP_GROWING_MS = 2_000;
/** Limit of all cached media together, about 200 MB. A day in four renditions has 86,400 segments. */
const MAX_SEGMENTS = 300_000;
/** Number of media opened concurrently; others wait. */
const MAX_OPENING = 100;
const MAX_WAITING = 10_000;

interface Kept {
  readonly media: OpenMedia;
  readonly until: number;
}

/** Media being played, cached for a minute. Concurrent requests share one opening. */
export class ArchiveShelf {
  readonly #clock: Clock;
  readonly #gate: Pick<PlaybackGate, "mediaIndex" | "noteMp4Size">;
  readonly #slices: Slices;
  readonly #readFile: ReadFile;
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: MAX_SEGMENTS,
    sizeCalculation: ({ media }) => Math.min(MAX_SEGMENTS, Math.max(1, media.segments)),
  });
  /** Including those that wait for a slot. */
  readonly #opening = new Map<string, Promise<OpenMedia | null>>();
  readonly #turns = new Turns({ atATime: MAX_OPENING, maxWaiting: MAX_WAITING });

  constructor(clock: Clock, gate: Pick<PlaybackGate, "mediaIndex" | "noteMp4Size">, readFile: ReadFile) {
    this.#clock = clock;
    this.#gate = gate;
    this.#slices = new Slices(clock);
    this.#readFile = readFile;
  }

  /** Null if there is nothing to play. Without `mayGrow`, media that was growing is looked up again. */
  async find(content: StoredContent, mayGrow = true): Promise<OpenMedia | null> {
    const kept = this.#kept.get(content.id);
    if (kept && this.#clock.monotonic() < kept.until && (mayGrow || !kept.media.index.isGrowing)) return kept.media;
    const opening = this.#opening.get(content.id);
    if (opening) return opening;
    const opened = this.#turns.run(() => this.#open(content)).finally(() => this.#opening.delete(content.id));
    this.#opening.set(content.id, opened);
    return opened;
  }

  async #open(content: StoredContent): Promise<OpenMedia | null> {
    const index = await this.#gate.mediaIndex(content);
    if (!index) return null;
    const kept = this.#kept.peek(content.id);
    // The gate returns the identical index while it caches it; everything derived from it is then still valid.
    const media = kept?.media.index === index ? kept.media : await this.#make(content, index);
    const keepMs = index.isGrowing ? KEEP_GROWING_MS : KEEP_MS;
    this.#kept.set(content.id, { media, until: this.#clock.monotonic() + keepMs });
    return media;
  }

  #make(content: StoredContent, index: MediaIndex): Promise<OpenMedia> {
    const noteMp4Size = (bytes: number): void => this.#gate.noteMp4Size(content, bytes);
    return OpenMedia.open(index, this.#readFile, this.#slices, noteMp4Size);
  }
}
