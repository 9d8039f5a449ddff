import { Readable } from "node:stream";
import type { Clock } from "../clock.ts";
import type { Fetch } from "../outbound/outbound-fetch.ts";
import type { ByteRange } from "./object-store.ts";
import { S3Client, type S3Settings } from "./s3-client.ts";
import { NoAnswer, StoreFailed } from "./store-failed.ts";

/** Parts of all but the last are of this size, and one is held in memory: S3 takes 5 MiB and more, and 10,000 parts. */
export const PART_BYTES = 8 * 1024 * 1024;
/** Without a byte for so long, the store is away. The time that a slow reader takes does not count. */
const MAX_SILENCE_MS = 30_000;
const UPLOAD_ID = /<UploadId>([^<]+)<\/UploadId>/;

/** Objects of a bucket, read and written under any key. */
export class S3Bucket {
  readonly client: S3Client;
  readonly #clock: Clock;

  /** `send`: for an address that a customer gave. */
  constructor(settings: S3Settings, clock: Clock, send?: Fetch) {
    this.client = new S3Client(settings, clock, send);
    this.#clock = clock;
  }

  async put(key: string, bytes: Uint8Array, contentType?: string): Promise<void> {
    const body = new Uint8Array(bytes);
    await this.client.ask({ what: "write", method: "PUT", key, body, ...(contentType && { contentType }) });
  }

  /** Of a length that is not known before. A stream that fails leaves no object. */
  async putStream(key: string, bytes: AsyncIterable<Uint8Array>, contentType?: string): Promise<void> {
    const write = { what: "write", key } as const;
    const uploadId = await this.#begin(key, contentType);
    try {
      let parts = "";
      let partNumber = 0;
      for await (const body of partsOf(bytes)) {
        const query = { partNumber: String(++partNumber), uploadId };
        const { headers } = await this.client.ask({ ...write, method: "PUT", query, body });
        parts += `<Part><PartNumber>${partNumber}</PartNumber><ETag>${headers.get("etag")}</ETag></Part>`;
      }
      const body = `<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`;
      const { text } = await this.client.ask({ ...write, method: "POST", query: { uploadId }, body });
      // S3 begins to answer before it has put the parts together, so the status may be good where this failed.
      if (text.includes("<Error>"))
        throw new StoreFailed("write", key, { status: 500, code: "CompleteMultipartUpload" });
    } catch (error) {
      await this.#abort(key, uploadId);
      throw error;
    }
  }

  /** Throws what a write under this key would, and leaves no object. */
  async probeWrite(key: string): Promise<void> {
    await this.#abort(key, await this.#begin(key, undefined));
  }

  async read(key: string, range?: ByteRange): Promise<Readable> {
    const leaving = new AbortController();
    const read = { what: "read", method: "GET", key } as const;
    if (!range) return this.#readableOf(await this.client.send(read, leaving), key, leaving);
    const answer = await this.client.send({ ...read, range: `bytes=${range.start}-${range.end}` }, leaving);
    if (answer.headers.get("content-range")?.startsWith(`bytes ${range.start}-`))
      return this.#readableOf(answer, key, leaving);
    leaving.abort();
    throw new StoreFailed("read", key, { error: new Error("it ignores ranges") });
  }

  /** Begin an upload in parts; its id. */
  async #begin(key: string, contentType: string | undefined): Promise<string> {
    const begin = { what: "write", method: "POST", key, query: { uploads: "" }, body: "" } as const;
    const { text } = await this.client.ask({ ...begin, ...(contentType && { contentType }) });
    const uploadId = UPLOAD_ID.exec(text)?.[1];
    if (!uploadId) throw new StoreFailed("write", key, { error: new Error("an upload without an id") });
    return uploadId;
  }

  /** Parts of an upload that is not completed would be paid for until somebody looks for them. Not every store can do it. */
  async #abort(key: string, uploadId: string): Promise<void> {
    await this.client.ask({ what: "write", method: "DELETE", key, query: { uploadId } }).catch(() => {});
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
