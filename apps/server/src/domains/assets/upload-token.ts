import { createHmac, timingSafeEqual } from "node:crypto";
import { isId } from "../ids.ts";

/** A requested upload must begin within this time. */
export const UPLOAD_TOKEN_MS = 12 * 3_600_000;

const MAX_TOKEN_LENGTH = 200;

/** A token that lets its holder upload the file of one asset until it expires. Any node can check it. */
export function mintUploadToken(secret: Uint8Array, assetId: string, expiresAt: number): string {
  const claim = `${assetId}.${expiresAt.toString(36)}`;
  return `${claim}.${sign(secret, claim)}`;
}

/** The asset that a token is for; null if the token is forged, damaged or expired. */
export function readUploadToken(secret: Uint8Array, token: string, now: number): string | null {
  const [assetId = "", expires = "", signature = "", ...rest] = token.slice(0, MAX_TOKEN_LENGTH).split(".");
  if (rest.length > 0 || !isId(assetId)) return null;
  const [given, right] = [Buffer.from(signature), Buffer.from(sign(secret, `${assetId}.${expires}`))];
  const isGenuine = given.length === right.length && timingSafeEqual(given, right);
  return isGenuine && Number.parseInt(expires, 36) > now ? assetId : null;
}

const sign = (secret: Uint8Array, claim: string): string =>
  createHmac("sha256", secret).update(claim).digest("base64url");
