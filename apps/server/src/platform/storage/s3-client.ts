import { AwsV4Signer } from "aws4fetch";
import type { Clock } from "../clock.ts";
import type { Fetch } from "../outbound/outbound-fetch.ts";
import { BackOff, sleep } from "../retry.ts";
import type { Secret } from "../secret.ts";
import { ObjectNotFound } from "./object-store.ts";
import { NoAnswer, StoreFailed } from "./store-failed.ts";

export interface S3Settings {
  readonly bucket: string;
  /** If null, Amazon S3 in the region. */
  readonly endpoint: string | null;
  readonly region: string;
  readonly accessKeyId: Secret;
  readonly secretAccessKey: Secret;
  /** The bucket is in the URL path, not in the host name. */
  readonly isPathStyle: boolean;
}

export interface S3Request {
  /** For an error message: the operation that failed. */
  readonly what: "read" | "write" | "list" | "delete";
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** Empty for the bucket itself. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly range?: string;
  readonly body?: Uint8Array<ArrayBuffer> | string;
  /** Kept with the object. */
  readonly contentType?: string;
}

/** Deadline until the response begins. A whole part may have to cross a slow line first. */
const MAX_READ_MS = 10_000;
const MAX_WRITE_MS = 120_000;
/** For the rest of a response that is not an object. */
const MAX_TEXT_MS = 20_000;
/** Limit of a response that is not an object: a list of 1,000 keys has about 300 KB. */
const MAX_TEXT = 4 * 1024 * 1024;
const MAX_TRIES = 3;
const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 1_000;
const CODE = /<Code>([A-Za-z0-9.]{1,100})<\/Code>/;

/** Signed requests to a bucket. */
export class S3Client {
  readonly #settings: S3Settings;
  readonly #clock: Clock;
  readonly #base: string;
  readonly #fetch: Fetch;

  constructor(settings: S3Settings, clock: Clock, send: Fetch = fetch) {
    this.#settings = settings;
    this.#clock = clock;
    this.#fetch = send;
    const { bucket, endpoint, region, isPathStyle } = settings;
    const base = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`);
    const path = base.pathname.replace(/\/$/, "");
    if (!isPathStyle) base.host = `${bucket}.${base.host}`;
    this.#base = isPathStyle ? `${base.origin}${path}/${bucket}` : `${base.origin}${path}`;
  }

  get origin(): string {
    return new URL(this.#base).origin;
  }

  /** The response, whose body must be read or released by `leaving`. Throws `ObjectNotFound` or `StoreFailed`. */
  async send(request: S3Request, leaving = new AbortController()): Promise<Response> {
    const wait = new BackOff(FIRST_RETRY_MS, MAX_RETRY_MS);
    for (let left = request.method === "POST" ? 1 : MAX_TRIES; ; ) {
      try {
        return await this.#sendOnce(request, leaving);
      } catch (error) {
        const mayPass = error instanceof StoreFailed && error.isTemporary && !leaving.signal.aborted;
        if (--left === 0 || !mayPass) throw error;
        await sleep(this.#clock, wait.next());
      }
    }
  }

  /** Like `send`, for a short response. */
  async ask(request: S3Request): Promise<{ readonly text: string; readonly headers: Headers }> {
    const leaving = new AbortController();
    const response = await this.send(request, leaving);
    const timer = this.#clock.after(MAX_TEXT_MS, () => leaving.abort(new NoAnswer(MAX_TEXT_MS)));
    try {
      return { text: await textOf(response), headers: response.headers };
    } catch (error) {
      throw new StoreFailed(request.what, request.key, { error });
    } finally {
      timer.cancel();
    }
  }

  async #sendOnce(request: S3Request, leaving: AbortController): Promise<Response> {
    const { what, key, body } = request;
    const late = new NoAnswer(body === undefined ? MAX_READ_MS : MAX_WRITE_MS);
    const timer = this.#clock.after(late.withinMs, () => leaving.abort(late));
    try {
      const { url, method, headers } = await this.#sign(request);
      // A store that redirects is in another region, where the signature would be wrong.
      const init = { method, headers, redirect: "manual", signal: leaving.signal } as const;
      const response = await this.#fetch(url, body === undefined ? init : { ...init, body });
      if (response.ok) return response;
      const code = CODE.exec(await textOf(response))?.[1] ?? "";
      // A HEAD response has no body that distinguishes a missing object from a missing bucket.
      if (response.status === 404 && code !== "NoSuchBucket" && code !== "NoSuchUpload") throw new ObjectNotFound(key);
      throw new StoreFailed(what, key, { status: response.status, code });
    } catch (error) {
      if (error instanceof ObjectNotFound || error instanceof StoreFailed) throw error;
      throw new StoreFailed(what, key, { error });
    } finally {
      timer.cancel();
    }
  }

  /** An address by which anybody may read an object for a while, with an answer of this content type. */
  async presign(key: string, ttlMs: number, contentType?: string): Promise<string> {
    const url = this.#urlOf(key);
    url.searchParams.set("X-Amz-Expires", String(Math.ceil(ttlMs / 1_000)));
    if (contentType !== undefined) url.searchParams.set("response-content-type", contentType);
    const signed = await this.#signer({ method: "GET", url: url.href, signQuery: true }).sign();
    return signed.url.href;
  }

  async #sign({ method, key, query = {}, range, contentType }: S3Request) {
    const url = this.#urlOf(key);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const headers: Record<string, string> = {
      ...(range === undefined ? {} : { range }),
      ...(contentType === undefined ? {} : { "content-type": contentType }),
    };
    const signed = await this.#signer({ method, url: url.href, headers }).sign();
    // Not signed: `fetch` adds a second `identity` to a request with a range.
    signed.headers.set("accept-encoding", "identity");
    return signed;
  }

  #signer(request: { method: string; url: string; headers?: Record<string, string>; signQuery?: true }): AwsV4Signer {
    const { region, accessKeyId, secretAccessKey } = this.#settings;
    return new AwsV4Signer({
      ...request,
      service: "s3",
      region,
      accessKeyId: accessKeyId.reveal(),
      secretAccessKey: secretAccessKey.reveal(),
    });
  }

  #urlOf(key: string): URL {
    return new URL(key === "" ? this.#base : `${this.#base}/${key.split("/").map(encodeURIComponent).join("/")}`);
  }
}

async function textOf(response: Response): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MAX_TEXT) throw new Error("the answer is too long");
  }
  return text;
}
