import { open, stat } from "node:fs/promises";
import { Readable } from "node:stream";
import type { Clock } from "../clock.ts";
import { segmentsOfKey, segmentsOfPrefix } from "./object-key.ts";
import { type ByteRange, ObjectNotFound, type ObjectStore } from "./object-store.ts";
import { S3Client, type S3Settings } from "./s3-client.ts";
import { NoAnswer, StoreFailed } from "./store-failed.ts";

/** Parts of all but the last are of this size, and one is held in memory: S3 takes 5 MiB and more, and 10,000 parts. */
const PART_BYTES = 8 * 1024 * 1024;
const DELETES_AT_ONCE = 8;
/** Without a byte for so long, the store is away. The time that a slow reader takes does not count. */
const MAX_SILENCE_MS = 30_000;
const KEY = /<Key>([^<]+)<\/Key>/g;
const COMMON_PREFIX = /<CommonPrefixes>\s*<Prefix>([^<]+)<\/Prefix>/g;
const UPLOAD_ID = /<UploadId>([^<]+)<\/UploadId>/;

/** Objects in a bucket of Amazon S3, or of a store that speaks its protocol. */
export class S3ObjectStore implements ObjectStore {
  readonly #client: S3Client;
  readonly #clock: Clock;

  constructor(settings: S3Settings, clock: Clock) {
    this.#client = new S3Client(settings, clock);
    this.#clock = clock;
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    segmentsOfKey(key);
    await this.#client.ask({ what: "write", method: "PUT", key, body: new Uint8Array(bytes) });
  }

  async putFile(key: string, path: string): Promise<void> {
    const { size } = await stat(path);
    await using file = await open(path);
    if (size > PART_BYTES) await this.putStream(key, file.createReadStream({ autoClose: false }));
    else await this.put(key, await file.readFile());
  }

  async putStream(key: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    segmentsOfKey(key);
    const write = { what: "write", key } as const;
    const begun = await this.#client.ask({ ...write, method: "POST", query: { uploads: "" }, body: "" });
    const uploadId = UPLOAD_ID.exec(begun.text)?.[1];
    if (!uploadId) throw new StoreFailed("write", key, { error: new Error("an upload without an id") });
    try {
      let parts = "";
      let partNumber = 0;
      for await (const body of partsOf(bytes)) {
        const query = { partNumber: String(++partNumber), uploadId };
        const { headers } = await this.#client.ask({ ...write, method: "PUT", query, body });
        parts += `<Part><PartNumber>${partNumber}</PartNumber><ETag>${headers.get("etag")}</ETag></Part>`;
      }
      const body = `<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`;
      const { text } = await this.#client.ask({ ...write, method: "POST", query: { uploadId }, body });
      // S3 begins to answer before it has put the parts together, so the status may be good where this failed.
      if (text.includes("<Error>"))
        throw new StoreFailed("write", key, { status: 500, code: "CompleteMultipartUpload" });
    } catch (error) {
      // Its parts would be paid for until somebody looks for them.
      await this.#client.ask({ ...write, method: "DELETE", query: { uploadId } }).catch(() => {});
      throw error;
    }
  }

  async read(key: string, range?: ByteRange): Promise<Readable> {
    segmentsOfKey(key);
    const leaving = new AbortController();
    const read = { what: "read", method: "GET", key } as const;
    if (!range) return this.#readableOf(await this.#client.send(read, leaving), key, leaving);
    const answer = await this.#client.send({ ...read, range: `bytes=${range.start}-${range.end}` }, leaving);
    if (answer.headers.get("content-range")?.startsWith(`bytes ${range.start}-`))
      return this.#readableOf(answer, key, leaving);
    leaving.abort();
    throw new StoreFailed("read", key, { error: new Error("it ignores ranges") });
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
      // Behind everything below the last one: the next character after a slash.
      after = `${prefix}${last}0`;
    }
  }

  freeBytes(): null {
    return null;
  }

  /** Pages of keys, each begun behind the last key of the one before: some stores do not say rightly whether there are more. */
  async *#list(prefix: string): AsyncIterable<readonly string[]> {
    for (let last: string | undefined; ; ) {
      const query = { "list-type": "2", prefix, ...(last === undefined ? {} : { "start-after": last }) };
      const { text } = await this.#client.ask({ what: "list", method: "GET", key: "", query });
      // All of them are ours, so that none has a character that XML writes otherwise.
      const keys = [...text.matchAll(KEY)].map(([, key = ""]) => key).filter((key) => key.startsWith(prefix));
      const next = keys.at(-1);
      if (next === undefined || next === last) return;
      last = next;
      yield keys;
    }
  }

  /** The body of an answer. The request ends with it, or when it is destroyed. */
  #readableOf({ body }: Response, key: string, leaving: AbortController): Readable {
    const clock = this.#clock;
    async function* chunks() {
      const reader = body?.getReader();
      try {
        for (;;) {
          const silence = clock.after(MAX_SILENCE_MS, () => leaving.abort(new NoAnswer(MAX_SILENCE_MS)));
          const read = await reader?.read().finally(() => silence.cancel());
          if (!read || read.done) return;
          yield read.value;
        }
      } catch (error) {
        throw new StoreFailed("read", key, { error });
      }
    }
    return Readable.from(chunks(), { objectMode: false }).once("close", () => leaving.abort());
  }
}

/** Pieces of `PART_BYTES`, but for the last one, which may be empty where it is the only one. */
async function* partsOf(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array<ArrayBuffer>> {
  let pieces: Uint8Array[] = [];
  let length = 0;
  let count = 0;
  for await (const chunk of bytes) {
    for (let rest = chunk; rest.byteLength > 0; ) {
      const piece = rest.subarray(0, PART_BYTES - length);
      rest = rest.subarray(piece.byteLength);
      pieces.push(piece);
      length += piece.byteLength;
      if (length < PART_BYTES) continue;
      count++;
      yield Buffer.concat(pieces);
      pieces = [];
      length = 0;
    }
  }
  if (length > 0 || count === 0) yield Buffer.concat(pieces);
}
