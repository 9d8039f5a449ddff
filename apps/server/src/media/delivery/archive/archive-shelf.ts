import { LRUCache } from "lru-cache";
import type { Clock } from "../../../platform/clock.ts";
import { Turns } from "../../../platform/limits/turns.ts";
import { SharedWork } from "../../../platform/shared-work.ts";
import { Slices } from "../../../platform/slices.ts";
import type { ObjectStore } from "../../../platform/storage/object-store.ts";
import type { MediaCatalogue, StoredContent } from "../../../ports/index.ts";
import { OpenMedia } from "../../stored/open-media.ts";
import { StoredMedia } from "../../stored/stored-media.ts";

const KEEP_MS = 60_000;
/** While more renditions are being made. */
const KEEP_GROWING_MS = 2_000;
/** Limit of all cached media together, about 200 MB. A day in four renditions has 86,400 segments. */
const MAX_SEGMENTS = 300_000;
/** What media cost that have fewer. */
const MIN_SEGMENTS = 10;
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
  readonly #catalogue: Pick<MediaCatalogue, "mediaIndex" | "noteMp4Size">;
  readonly #slices: Slices;
  readonly #store: Pick<ObjectStore, "read" | "pathOf">;
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: MAX_SEGMENTS,
    sizeCalculation: ({ media }) => Math.min(MAX_SEGMENTS, Math.max(MIN_SEGMENTS, media.segments)),
  });
  /** Including those that wait for a slot. */
  readonly #opening = new SharedWork<OpenMedia | null>();
  readonly #turns = new Turns({ atATime: MAX_OPENING, maxWaiting: MAX_WAITING });

  constructor(
    clock: Clock,
    catalogue: Pick<MediaCatalogue, "mediaIndex" | "noteMp4Size">,
    store: Pick<ObjectStore, "read" | "pathOf">,
  ) {
    this.#clock = clock;
    this.#catalogue = catalogue;
    this.#slices = new Slices(clock);
    this.#store = store;
  }

  /** Null if there is nothing to play. Without `mayGrow`, media that was growing is looked up again. */
  async find(content: StoredContent, mayGrow = true): Promise<OpenMedia | null> {
    const kept = this.#kept.get(content.id);
    if (kept && this.#clock.monotonic() < kept.until && (mayGrow || !kept.media.index.isGrowing)) return kept.media;
    return this.#opening.run(() => this.#turns.run(() => this.#open(content)), content.id);
  }

  async #open(content: StoredContent): Promise<OpenMedia | null> {
    const index = await this.#catalogue.mediaIndex(content);
    if (!index) return null;
    const kept = this.#kept.peek(content.id);
    // The catalogue returns the identical index while it caches it; everything derived from it is then still valid.
    const noteMp4Size = (bytes: number): void => this.#catalogue.noteMp4Size(content, bytes);
    const open = () => OpenMedia.open(new StoredMedia(index, this.#store), this.#slices, noteMp4Size);
    const media = kept?.media.index === index ? kept.media : await open();
    const keepMs = index.isGrowing ? KEEP_GROWING_MS : KEEP_MS;
    this.#kept.set(content.id, { media, until: this.#clock.monotonic() + keepMs });
    return media;
  }
}
