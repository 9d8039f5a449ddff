import { createHmac, timingSafeEqual } from "node:crypto";
import { OWNER_TOKEN_PREFIX } from "../../ports/index.ts";
import type { Refused } from "./access-token.ts";

/** How long an owner can watch with one token. */
export const OWNER_TOKEN_MS = 3_600_000;

const MAX_TOKEN_LENGTH = 500;

/** The claims of an owner token. */
interface Scope {
  readonly playbackId: string;
  readonly projectId: string;
}

export interface OwnerToken {
  readonly token: string;
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number;
}

/**
 * Tokens with which the owner of a stream or recording can watch it under any policy: HMAC-SHA-256 over playback id, project and expiry, with a
 * secret that all nodes share. Their prefix differs from a customer's signed token, so neither can pass for the other.
 */
export class OwnerTokens {
  readonly #readSecret: () => Promise<Uint8Array>;
  #secret: Promise<Uint8Array> | null = null;

  constructor(readSecret: () => Promise<Uint8Array>) {
    this.#readSecret = readSecret;
  }

  async mint({ playbackId, projectId }: Scope, now: number): Promise<OwnerToken> {
    const expiresAt = now + OWNER_TOKEN_MS;
    const claims = Buffer.from(JSON.stringify([playbackId, projectId, expiresAt])).toString("base64url");
    const signature = await this.#sign(claims);
    return { token: `${OWNER_TOKEN_PREFIX}${claims}.${signature.toString("base64url")}`, expiresAt };
  }

  /** Null if the text is not an owner token. */
  async check(text: string, scope: Scope, now: number): Promise<{ ok: true; expiresAt: number } | Refused | null> {
    if (!text.startsWith(OWNER_TOKEN_PREFIX)) return null;
    if (text.length > MAX_TOKEN_LENGTH) return INVALID;
    const [claims = "", signature = "", ...more] = text.slice(OWNER_TOKEN_PREFIX.length).split(".");
    const given = Buffer.from(signature, "base64url");
    const expected = await this.#sign(claims);
    if (more.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) return INVALID;
    const [playbackId, projectId, expiresAt] = JSON.parse(Buffer.from(claims, "base64url").toString()) as Claims;
    if (playbackId !== scope.playbackId || projectId !== scope.projectId) return INVALID;
    return expiresAt > now ? { ok: true, expiresAt } : { ok: false, why: "the owner token has expired" };
  }

  async #sign(claims: string): Promise<Buffer> {
    this.#secret ??= this.#readSecret();
    // A failure is not cached: the next request reads the secret again.
    this.#secret.catch(() => (this.#secret = null));
    return createHmac("sha256", await this.#secret)
      .update(claims)
      .digest();
  }
}

type Claims = readonly [playbackId: string, projectId: string, expiresAt: number];

const INVALID: Refused = { ok: false, why: "the owner token is not valid for this playback id" };
