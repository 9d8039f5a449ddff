import { open, stat } from "node:fs/promises";
import { Readable } from "node:stream";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import type { Secret } from "../secret.ts";
import { segmentsOfKey, segmentsOfPrefix } from "./object-key.ts";
import { type ByteRange, ObjectNotFound, type ObjectStore } from "./object-store.ts";
import { answersAbsent, StoreFailed } from "./store-failed.ts";

export interface S3Settings {
  readonly bucket: string;
  /** Amazon's own in the region where null. */
  readonly endpoint: string | null;
  readonly region: string;
  /** Those of the machine or of `AWS_…` where null. */
  readonly credentials: { readonly accessKeyId: Secret; readonly secretAccessKey: Secret } | null;
  readonly isPathStyle: boolean;
}

/** Parts of all but the last are of this size, and one is held in memory: S3 takes 5 MiB and more, and 10,000 parts. */
const PART_BYTES = 8 * 1024 * 1024;
const DELETES_AT_ONCE = 8;
const MAX_CONNECT_MS = 5_000;
/** Readers have connections of their own, so that slow ones hold up no recording. */
const READING = { maxSockets: 500, requestTimeout: 10_000, socketTimeout: 60_000 };
/** A whole part on a slow line. */
const WRITING = { maxSockets: 16, requestTimeout: 120_000, socketTimeout: 30_000 };

/** Objects in a bucket of Amazon S3, or of a store that speaks its protocol. */
export class S3ObjectStore implements ObjectStore {
  readonly #bucket: string;
  readonly #reading: S3Client;
  readonly #writing: S3Client;

  constructor(settings: S3Settings) {
    this.#bucket = settings.bucket;
    this.#reading = clientOf(settings, READING);
    this.#writing = clientOf(settings, WRITING);
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    const object = this.#object(key);
    await asking("write", key, () => this.#writing.send(new PutObjectCommand({ ...object, Body: bytes })));
  }

  async putFile(key: string, path: string): Promise<void> {
    const { size } = await stat(path);
    await using file = await open(path);
    if (size > PART_BYTES) await this.putStream(key, file.createReadStream({ autoClose: false }));
    else await this.put(key, await file.readFile());
  }

  async putStream(key: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const object = this.#object(key);
    const upload = await asking("write", key, () => this.#writing.send(new CreateMultipartUploadCommand(object)));
    const ofUpload = { ...object, UploadId: upload.UploadId };
    try {
      const parts: { readonly PartNumber: number; readonly ETag: string | undefined }[] = [];
      for await (const part of partsOf(bytes)) {
        const PartNumber = parts.length + 1;
        const sent = await asking("write", key, () =>
          this.#writing.send(new UploadPartCommand({ ...ofUpload, PartNumber, Body: part })),
        );
        parts.push({ PartNumber, ETag: sent.ETag });
      }
      const whole = { ...ofUpload, MultipartUpload: { Parts: parts } };
      await asking("write", key, () => this.#writing.send(new CompleteMultipartUploadCommand(whole)));
    } catch (error) {
      // Its parts would be paid for until somebody looks for them.
      await this.#writing.send(new AbortMultipartUploadCommand(ofUpload)).catch(() => {});
      throw error;
    }
  }

  async read(key: string, range?: ByteRange): Promise<Readable> {
    const object = this.#object(key);
    const wanted = range ? { ...object, Range: `bytes=${range.start}-${range.end}` } : object;
    const { Body, ContentRange } = await asking("read", key, () => this.#reading.send(new GetObjectCommand(wanted)));
    if (!(Body instanceof Readable)) throw new StoreFailed("read", key, new Error("an answer without a body"));
    if (!range || ContentRange?.startsWith(`bytes ${range.start}-`)) return Body;
    Body.destroy();
    throw new StoreFailed("read", key, new Error("the store ignores ranges"));
  }

  async size(key: string): Promise<number | null> {
    const object = this.#object(key);
    try {
      const { ContentLength } = await asking("read", key, () => this.#reading.send(new HeadObjectCommand(object)));
      return ContentLength ?? 0;
    } catch (error) {
      if (error instanceof ObjectNotFound) return null;
      throw error;
    }
  }

  async delete(key: string): Promise<void> {
    const object = this.#object(key);
    await asking("delete", key, () => this.#writing.send(new DeleteObjectCommand(object))).catch((error: unknown) => {
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

  freeBytes(): null {
    return null;
  }

  close(): void {
    this.#reading.destroy();
    this.#writing.destroy();
  }

  /** Pages of keys, each begun behind the last key of the one before: some stores do not say rightly whether there are more. */
  async *#list(prefix: string): AsyncIterable<readonly string[]> {
    const place = { Bucket: this.#bucket, Prefix: prefix };
    for (let last: string | undefined; ; ) {
      const behind = last === undefined ? place : { ...place, StartAfter: last };
      const { Contents = [] } = await asking("list", prefix, () =>
        this.#writing.send(new ListObjectsV2Command(behind)),
      );
      const keys = Contents.flatMap(({ Key }) => (Key === undefined ? [] : [Key]));
      const next = keys.at(-1);
      if (next === undefined || next === last) return;
      last = next;
      yield keys;
    }
  }

  #object(key: string): { readonly Bucket: string; readonly Key: string } {
    segmentsOfKey(key);
    return { Bucket: this.#bucket, Key: key };
  }
}

function clientOf(
  { endpoint, region, credentials, isPathStyle }: S3Settings,
  { maxSockets, requestTimeout, socketTimeout }: typeof READING,
): S3Client {
  const agent = { keepAlive: true, maxSockets };
  const config: S3ClientConfig = {
    region,
    forcePathStyle: isPathStyle,
    // Most other stores know neither these checksums nor the encoding that carries them.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: {
      connectionTimeout: MAX_CONNECT_MS,
      requestTimeout,
      throwOnRequestTimeout: true,
      socketTimeout,
      httpAgent: agent,
      httpsAgent: agent,
    },
    ...(endpoint === null ? {} : { endpoint }),
    ...(credentials === null
      ? {}
      : {
          credentials: async () => ({
            accessKeyId: credentials.accessKeyId.reveal(),
            secretAccessKey: credentials.secretAccessKey.reveal(),
          }),
        }),
  };
  return new S3Client(config);
}

async function asking<Answer>(what: string, key: string, ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    throw answersAbsent(error) ? new ObjectNotFound(key) : new StoreFailed(what, key, error);
  }
}

/** Pieces of `PART_BYTES`, but for the last one, which may be empty where it is the only one. */
async function* partsOf(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
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
