import { createHmac } from "node:crypto";

/**
 * Headers that prove a body is ours: HMAC-SHA256 in hex over the body as sent, and `timestamp` (the body's own, in milliseconds). Under both
 * names that receivers look for.
 */
export function signBody(secret: string, body: string, timestamp: number): Record<string, string> {
  const signature = `t=${timestamp},v1=${createHmac("sha256", secret).update(body).digest("hex")}`;
  return { "service-signature": signature, "livepeer-signature": signature };
}
