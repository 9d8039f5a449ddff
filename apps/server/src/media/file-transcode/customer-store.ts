import type { Clock } from "../../platform/clock.ts";
import type { Outbound } from "../../platform/outbound/outbound.ts";
import { outboundFetch } from "../../platform/outbound/outbound-fetch.ts";
import { Secret } from "../../platform/secret.ts";
import { S3Bucket } from "../../platform/storage/s3-bucket.ts";
import type { CustomerBucket } from "../../ports/index.ts";
import { inWords } from "./store-words.ts";

/** Lifetime of a signed URL; longer than a job may take. */
const ADDRESS_MS = 24 * 3_600_000;

/** A customer's bucket. Its errors become a `TaskFailed` with a message for the owner; errors of the data source pass unchanged. */
export class CustomerStore {
  readonly #account: CustomerBucket;
  readonly #bucket: S3Bucket;

  constructor(account: CustomerBucket, outbound: Pick<Outbound, "send">, clock: Clock) {
    const { endpoint, bucket, region, accessKeyId, secretAccessKey } = account;
    const credentials = { accessKeyId: new Secret(accessKeyId), secretAccessKey: new Secret(secretAccessKey) };
    const settings = { endpoint, bucket, region, ...credentials, isPathStyle: true };
    this.#account = account;
    this.#bucket = new S3Bucket(settings, clock, outboundFetch(outbound));
  }

  /** Checks that the bucket is writable. */
  async probe(key: string): Promise<void> {
    await this.#bucket.probeWrite(key).catch((error: unknown) => this.#explain(error, "write"));
  }

  async put(key: string, bytes: Uint8Array, contentType: string): Promise<void> {
    await this.#bucket.put(key, bytes, contentType).catch((error: unknown) => this.#explain(error, "write"));
  }

  async putStream(key: string, bytes: AsyncIterable<Uint8Array>, contentType: string): Promise<void> {
    let ours: unknown = null;
    const watched = async function* () {
      try {
        yield* bytes;
      } catch (error) {
        ours = error;
        throw error;
      }
    };
    await this.#bucket.putStream(key, watched(), contentType).catch((error: unknown) => {
      if (error === ours) throw error;
      this.#explain(error, "write");
    });
  }

  /** A signed URL of a file. First reads one byte with a signed request, because only its response explains an error. */
  async addressOf(key: string): Promise<string> {
    const { client } = this.#bucket;
    const first = { what: "read", method: "GET", key, range: "bytes=0-0" } as const;
    await client.ask(first).catch((error: unknown) => this.#explain(error, "read"));
    return client.presign(key, ADDRESS_MS);
  }

  #explain(error: unknown, does: "read" | "write"): never {
    throw inWords(error, this.#account, does);
  }
}
