import { Places } from "../../../platform/limits/places.ts";
import type { ByteRange, ObjectStore } from "../../../platform/storage/object-store.ts";
import type { MediaRequest } from "../http/media-request.ts";
import { type StoredBytes, sendBusy, sendStored } from "../http/media-response.ts";

/** Concurrent reads from the store per client. The total is a share of the open files allowed. */
const MAX_READS_PER_CLIENT = 200;

/** Reads stored media from the object store, and sends it to a bounded number of clients at a time. */
export class ArchiveBytes {
  readonly #store: ObjectStore;
  readonly #reads: Places;

  /** `maxReads`: concurrent responses that may read from the store. */
  constructor(store: ObjectStore, maxReads: number) {
    this.#store = store;
    this.#reads = new Places({ inAll: maxReads, perHolder: MAX_READS_PER_CLIENT });
  }

  /** Sends at the client's pace. The source file is closed with the response. */
  async send({ req, res, client }: MediaRequest, cache: string, stored: StoredBytes): Promise<void> {
    if (!this.#reads.take(client)) return sendBusy(res, "too many concurrent downloads");
    try {
      await sendStored(req, res, cache, stored);
    } finally {
      this.#reads.giveBack(client);
    }
  }

  async *read(key: string, range: ByteRange): AsyncIterable<Uint8Array> {
    yield* await this.#store.read(key, range);
  }
}
