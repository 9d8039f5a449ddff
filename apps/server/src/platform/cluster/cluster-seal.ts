import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { LRUCache } from "lru-cache";
import type { Clock } from "../clock.ts";

/** How far apart the clocks of two nodes may be, and how old a request; both follow the database's clock. */
const MAX_SKEW_SECONDS = 60;
/** Longer than a request is valid, so that none is obeyed twice. */
const NONCE_KEPT_MS = 120_000;
const MAX_NONCES = 50_000;
/** A key that was added is used by all nodes within this time. */
const KEYS_FRESH_MS = 30_000;
/** Strangers' requests must not ask the database each. */
const KEYS_READ_APART_MS = 1_000;

const AUTHORIZATION = /^Weir ([\w-]{1,64})\.(\d{1,12})\.([\w-]{43})$/;
const NONCE = /^[\w-]{22}$/;

/** Of a body that is sent while it arrives. */
export const STREAMED = "streamed";
/** The SHA-256 of an empty body. */
const NO_BODY = bodyHash(Buffer.alloc(0));

export interface ClusterSealSettings {
  readonly clock: Clock;
  readonly nodeId: () => string;
  /** The keys that nodes share, the newest first. */
  readonly readKeys: () => Promise<readonly Uint8Array[]>;
}

/** What a seal covers. */
interface Sealed {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly nodeId: string;
  readonly seconds: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Proves that a request came from a node of this server: HMAC-SHA-256 with a key from the database over method, path with query, node, second, all
 * `Weir-*` headers and, by one of these, the body's hash. A request that changes something has a nonce, and is obeyed once.
 */
export class ClusterSeal {
  readonly #settings: ClusterSealSettings;
  readonly #nonces: LRUCache<string, number>;
  #keys: readonly Uint8Array[] = [];
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;

  constructor(settings: ClusterSealSettings) {
    this.#settings = settings;
    this.#nonces = new LRUCache({ max: MAX_NONCES });
  }

  /** To be awaited before the first request. */
  async open(): Promise<void> {
    await this.#readKeys();
  }

  /** All headers of a request that carries `headers`, whose names begin with `weir-`, and a body of this hash. */
  sign(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body = NO_BODY,
  ): Record<string, string> {
    const { clock, nodeId } = this.#settings;
    if (clock.monotonic() - this.#readAt > KEYS_FRESH_MS) void this.#readKeys().catch(() => {});
    const [key] = this.#keys;
    if (!key) throw new Error("the cluster's key has not been read");
    const nonce = isRead(method) ? {} : { "weir-nonce": randomBytes(16).toString("base64url") };
    const all = { ...headers, ...nonce, "weir-body": body };
    const seconds = String(Math.floor(clock.now() / 1000));
    const sealed = { method, path, nodeId: nodeId(), seconds, headers: all };
    return { ...all, authorization: `Weir ${sealed.nodeId}.${seconds}.${macOf(key, sealed).toString("base64url")}` };
  }

  /** Whether a node of this server sent it, now and for the first time. */
  async verify(method: string, path: string, headers: IncomingHttpHeaders): Promise<boolean> {
    const { clock } = this.#settings;
    const [, nodeId, seconds, mac] = AUTHORIZATION.exec(headers.authorization ?? "") ?? [];
    if (nodeId === undefined || seconds === undefined || mac === undefined) return false;
    if (Math.abs(clock.now() / 1000 - Number(seconds)) > MAX_SKEW_SECONDS) return false;
    const own = Object.entries(headers).filter(([name]) => name.startsWith("weir-"));
    const sealed = { method, path, nodeId, seconds, headers: Object.fromEntries(own) as Record<string, string> };
    const given = Buffer.from(mac, "base64url");
    const isOurs = () => this.#keys.some((key) => timingSafeEqual(macOf(key, sealed), given));
    if (!isOurs()) {
      // Another node may have read a newer key.
      if (clock.monotonic() - this.#readAt < KEYS_READ_APART_MS) return false;
      await this.#readKeys();
      if (!isOurs()) return false;
    }
    return isRead(method) || this.#isFirst(String(headers["weir-nonce"] ?? ""));
  }

  /** False for a nonce that was seen, and where too many are remembered to tell. */
  #isFirst(nonce: string): boolean {
    const now = this.#settings.clock.monotonic();
    if (!NONCE.test(nonce) || this.#nonces.has(nonce)) return false;
    if (this.#nonces.size >= MAX_NONCES) {
      const oldest = this.#nonces.rvalues().next().value;
      if (oldest !== undefined && now - oldest < NONCE_KEPT_MS) return false;
    }
    this.#nonces.set(nonce, now);
    return true;
  }

  #readKeys(): Promise<void> {
    const { clock, readKeys } = this.#settings;
    this.#reading ??= readKeys()
      .then((keys) => {
        this.#keys = keys;
      })
      .finally(() => {
        this.#readAt = clock.monotonic();
        this.#reading = null;
      });
    return this.#reading;
  }
}

/** For `sign` and for the header `Weir-Body`. */
export function bodyHash(body: Uint8Array): string {
  return createHash("sha256").update(body).digest("hex");
}

const isRead = (method: string): boolean => method === "GET" || method === "HEAD";

function macOf(key: Uint8Array, { method, path, nodeId, seconds, headers }: Sealed): Buffer {
  const names = Object.keys(headers).sort();
  // No header's value has a line feed.
  const text = ["weir-cluster-1", method, path, nodeId, seconds, ...names.map((name) => `${name}:${headers[name]}`)];
  return createHmac("sha256", key).update(text.join("\n")).digest();
}
