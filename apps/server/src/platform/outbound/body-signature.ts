import { createHmac } from "node:crypto";

/**
 * Headers that prove a body is ours: HMAC-SHA256 over the body as it is sent, in hex, with `timestamp` (the body's own, in milliseconds)
 * beside it. Under both names that receivers look for.
 */
export function signBody(secret: string, body: string, timestamp: number): Record<string, string> {
  const signature = `t=${timestamp},v1=${createHmac("sha256", secret).update(body).digest("hex")}`;
  return { "service-signature": signature, "livepeer-signature": signature };
}
