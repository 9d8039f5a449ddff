import { open, stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import type { Clock } from "../clock.ts";
import { isKey, segmentsOfKey, segmentsOfPrefix } from "./object-key.ts";
import { type ByteRange, ObjectNotFound, type ObjectStore } from "./object-store.ts";
import { PART_BYTES, S3Bucket } from "./s3-bucket.ts";
import type { S3Client, S3Settings } from "./s3-client.ts";

const DELETES_AT_ONCE = 8;
const KEY = /<Key>([^<]+)<\/Key>/g;
const COMMON_PREFIX = /<CommonPrefixes>\s*<Prefix>([^<]+)<\/Prefix>/g;

/** Objects in a bucket of Amazon S3, or of a store with its protocol. */
export class S3ObjectStore implements ObjectStore {
  readonly #bucket: S3Bucket;
  readonly #client: S3Client;

  readonly urlOf?: NonNullable<ObjectStore["urlOf"]>;
  readonly addressOrigin?: string;

  /** `hasAddresses`: clients can reach the store, and may read objects from it. */
  constructor(settings: S3Settings, clock: Clock, { hasAddresses = false } = {}) {
    this.#bucket = new S3Bucket(settings, clock);
    this.#client = this.#bucket.client;
    if (!hasAddresses) return;
    this.addressOrigin = this.#client.origin;
    this.urlOf = async (key, ttlMs, contentType) => {
      segmentsOfKey(key);
      return this.#client.presign(key, ttlMs, contentType);
    };
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    segmentsOfKey(key);
    await this.#bucket.put(key, bytes);
  }

  async putFile(key: string, path: string): Promise<void> {
    const { size } = await stat(path);
    await using file = await open(path);
    if (size > PART_BYTES) await this.putStream(key, file.createReadStream({ autoClose: false }));
    else await this.put(key, await file.readFile());
  }

  async putStream(key: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    segmentsOfKey(key);
    await this.#bucket.putStream(key, bytes);
  }

  async read(key: string, range?: ByteRange): Promise<Readable> {
    segmentsOfKey(key);
    return this.#bucket.read(key, range);
  }

  async size(key: string): Promise<number | null> {
    segmentsOfKey(key);
    try {
      const { headers } = await this.#client.ask({ what: "read", method: "HEAD", key });
      return Number(headers.get("content-length"));
    } catch (error) {
      if (error instanceof ObjectNotFound) return null;
      throw error;
    }
  }

  async delete(key: string): Promise<void> {
    segmentsOfKey(key);
    await this.#client.ask({ what: "delete", method: "DELETE", key }).catch((error: unknown) => {
      if (!(error instanceof ObjectNotFound)) throw error;
    });
  }

  async deletePrefix(prefix: string): Promise<void> {
    segmentsOfPrefix(prefix);
    for await (const page of this.#list(prefix)) {
      for (let i = 0; i < page.length; i += DELETES_AT_ONCE)
        await Promise.all(page.slice(i, i + DELETES_AT_ONCE).map((key) => this.delete(key)));
    }
  }

  async children(prefix: string): Promise<string[]> {
    segmentsOfPrefix(prefix);
    const names = new Set<string>();
    for (let after: string | undefined; ; ) {
      const query = {
        "list-type": "2",
        delimiter: "/",
        prefix,
        ...(after === undefined ? {} : { "start-after": after }),
      };
      const { text } = await this.#client.ask({ what: "list", method: "GET", key: "", query });
      const before = names.size;
      for (const [, found = ""] of text.matchAll(COMMON_PREFIX)) names.add(found.slice(prefix.length, -1));
      const last = [...names].sort().at(-1);
      if (last === undefined || names.size === before) return [...names];
      // The key after everything below the last one: the next character after a slash.
      after = `${prefix}${last}0`;
    }
  }

  async *keys(): AsyncGenerator<string, void> {
    for await (const page of this.#list("v1/")) yield* page.filter(isKey);
  }

  freeBytes(): null {
    return null;
  }

  /** Pages of keys, each starting after the last key of the previous page: some stores report wrongly whether there are more. */
  async *#list(prefix: string): AsyncIterable<readonly string[]> {
    for (let last: string | undefined; ; ) {
      const query = { "list-type": "2", prefix, ...(last === undefined ? {} : { "start-after": last }) };
      const { text } = await this.#client.ask({ what: "list", method: "GET", key: "", query });
      // The server builds all keys, so none has a character that XML escapes.
      const keys = [...text.matchAll(KEY)].map(([, key = ""]) => key).filter((key) => key.startsWith(prefix));
      const next = keys.at(-1);
      if (next === undefined || next === last) return;
      last = next;
      yield keys;
    }
  }
}
