import { AwsV4Signer } from "aws4fetch";
import type { Clock } from "../clock.ts";
import { BackOff, sleep } from "../retry.ts";
import type { Secret } from "../secret.ts";
import { ObjectNotFound } from "./object-store.ts";
import { NoAnswer, StoreFailed } from "./store-failed.ts";

export interface S3Settings {
  readonly bucket: string;
  /** Amazon's own in the region where null. */
  readonly endpoint: string | null;
  readonly region: string;
  readonly accessKeyId: Secret;
  readonly secretAccessKey: Secret;
  /** The bucket is in the path of addresses, not in the host name. */
  readonly isPathStyle: boolean;
}

export interface S3Request {
  /** For an error: what failed. */
  readonly what: "read" | "write" | "list" | "delete";
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** Empty for the bucket itself. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly range?: string;
  readonly body?: Uint8Array<ArrayBuffer> | string;
}

/** Until the answer begins. A whole part may have to go over a slow line first. */
const MAX_READ_MS = 10_000;
const MAX_WRITE_MS = 120_000;
/** For the rest of an answer that is no object. */
const MAX_TEXT_MS = 20_000;
/** An answer that is not an object: a list of 1,000 keys has some 300 KB. */
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

  constructor(settings: S3Settings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
    const { bucket, endpoint, region, isPathStyle } = settings;
    const base = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`);
    const path = base.pathname.replace(/\/$/, "");
    if (!isPathStyle) base.host = `${bucket}.${base.host}`;
    this.#base = isPathStyle ? `${base.origin}${path}/${bucket}` : `${base.origin}${path}`;
  }

  /** The answer, whose body is to be read, or given up by `leaving`. Throws `ObjectNotFound` or `StoreFailed`. */
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

  /** As `send`, for an answer that is short. */
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
      // A store that sends us elsewhere is in another region: the signature would be wrong there.
      const init = { method, headers, redirect: "manual", signal: leaving.signal } as const;
      const response = await fetch(url, body === undefined ? init : { ...init, body });
      if (response.ok) return response;
      const code = CODE.exec(await textOf(response))?.[1] ?? "";
      // A HEAD has no body that tells a missing object from a missing bucket.
      if (response.status === 404 && code !== "NoSuchBucket" && code !== "NoSuchUpload") throw new ObjectNotFound(key);
      throw new StoreFailed(what, key, { status: response.status, code });
    } catch (error) {
      if (error instanceof ObjectNotFound || error instanceof StoreFailed) throw error;
      throw new StoreFailed(what, key, { error });
    } finally {
      timer.cancel();
    }
  }

  async #sign({ method, key, query = {}, range }: S3Request) {
    const { region, accessKeyId, secretAccessKey } = this.#settings;
    const url = new URL(key === "" ? this.#base : `${this.#base}/${key}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const headers: Record<string, string> = {
      "accept-encoding": "identity",
      ...(range === undefined ? {} : { range }),
    };
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      headers,
      service: "s3",
      region,
      accessKeyId: accessKeyId.reveal(),
      secretAccessKey: secretAccessKey.reveal(),
    });
    return signer.sign();
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
