import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { ViewerPass } from "../../../ports/index.ts";

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const MIN_BYTES = 1 + NONCE_BYTES + TAG_BYTES;
/** Enough for an access key of 8 KiB with every byte escaped in JSON, in base64. Ordinary characters take half of that. */
export const MAX_TOKEN_LENGTH = 22_000;

/** The content of a viewer session's token, from which any node can restore the session. */
export interface SealedViewer {
  readonly viewerId: string;
  readonly pass: ViewerPass;
}

type Sealed =
  | readonly [viewerId: string, "jwt", keyId: string, expiresAt: number]
  | readonly [string, "webhook", string]
  | readonly [string, "owner", expiresAt: number];

/**
 * Tokens in the URLs of gated content: AES-256-GCM with a random nonce and the playback id as associated data, so that a token is invalid for any
 * other id. `secret` (32 bytes) is the same on all nodes. The content, for example the viewer's access key, is unreadable to others.
 */
export class ViewerTokens {
  readonly #secret: Uint8Array;

  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  seal(playbackId: string, { viewerId, pass }: SealedViewer): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", this.#secret, nonce).setAAD(Buffer.from(playbackId));
    const body = [cipher.update(JSON.stringify(sealedOf(viewerId, pass)), "utf8"), cipher.final()];
    return Buffer.concat([Buffer.of(VERSION), nonce, ...body, cipher.getAuthTag()]).toString("base64url");
  }

  /** Null for a token that this installation did not issue for the playback id. */
  open(playbackId: string, token: string): SealedViewer | null {
    if (token.length > MAX_TOKEN_LENGTH) return null;
    const bytes = Buffer.from(token, "base64url");
    // Only the canonical base64url form is accepted: no other characters, padding or loose bits.
    if (bytes.length <= MIN_BYTES || bytes[0] !== VERSION || bytes.toString("base64url") !== token) return null;
    const nonce = bytes.subarray(1, 1 + NONCE_BYTES);
    const decipher = createDecipheriv("aes-256-gcm", this.#secret, nonce, { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(playbackId))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    let text: string;
    try {
      text = decipher.update(bytes.subarray(1 + NONCE_BYTES, -TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
    } catch {
      return null;
    }
    const sealed = JSON.parse(text) as Sealed;
    return { viewerId: sealed[0], pass: passOf(sealed) };
  }
}

function sealedOf(viewerId: string, pass: ViewerPass): Sealed {
  switch (pass.kind) {
    case "jwt":
      return [viewerId, pass.kind, pass.signingKeyId, pass.expiresAt];
    case "webhook":
      return [viewerId, pass.kind, pass.accessKey];
    case "owner":
      return [viewerId, pass.kind, pass.expiresAt];
  }
}

function passOf(sealed: Sealed): ViewerPass {
  switch (sealed[1]) {
    case "jwt":
      return { kind: "jwt", signingKeyId: sealed[2], expiresAt: sealed[3] };
    case "webhook":
      return { kind: "webhook", accessKey: sealed[2] };
    case "owner":
      return { kind: "owner", expiresAt: sealed[2] };
  }
}
