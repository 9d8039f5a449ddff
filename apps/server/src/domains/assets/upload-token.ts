import { createHmac, timingSafeEqual } from "node:crypto";
import { isId } from "../ids.ts";

/** How long the address of a requested upload may be used to begin it. */
export const UPLOAD_TOKEN_MS = 12 * 3_600_000;

const MAX_TOKEN_LENGTH = 200;

/** Lets whoever has it upload the file of one asset, until a time. Any node can check it. */
export function mintUploadToken(secret: Uint8Array, assetId: string, expiresAt: number): string {
  const claim = `${assetId}.${expiresAt.toString(36)}`;
  return `${claim}.${sign(secret, claim)}`;
}

/** The asset that a token is for; null for one that is forged, damaged or too old. */
export function readUploadToken(secret: Uint8Array, token: string, now: number): string | null {
  const [assetId = "", expires = "", signature = "", ...rest] = token.slice(0, MAX_TOKEN_LENGTH).split(".");
  if (rest.length > 0 || !isId(assetId)) return null;
  const [given, right] = [Buffer.from(signature), Buffer.from(sign(secret, `${assetId}.${expires}`))];
  const isGenuine = given.length === right.length && timingSafeEqual(given, right);
  return isGenuine && Number.parseInt(expires, 36) > now ? assetId : null;
}

const sign = (secret: Uint8Array, claim: string): string =>
  createHmac("sha256", secret).update(claim).digest("base64url");
