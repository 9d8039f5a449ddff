import type { WebhookDelivery } from "@weir/contract";

/** A webhook call as it arrived, and the secret that both sides know. */
export interface SignedBody {
  /** The body exactly as it came, before any parsing. */
  readonly body: string;
  /** The header `Service-Signature`, or `Livepeer-Signature`, which says the same. */
  readonly signature: string | null | undefined;
  readonly sharedSecret: string;
  /** How old a call may be, in seconds; 300 when not given. The signature covers the time in the body, so that nobody can repeat an old call. */
  readonly toleranceSeconds?: number;
  /** Milliseconds since the Unix epoch; the clock's when not given. */
  readonly now?: number;
}

const HEADER = /^t=(\d{1,15}),v1=([0-9a-f]{64})$/;

/**
 * The webhook call in this body when the signature is right, it is of this moment, and the body says the same; null otherwise. For Node
 * and anything else with Web Crypto.
 */
export async function verifyWebhook(signed: SignedBody): Promise<WebhookDelivery | null> {
  const { body, signature, sharedSecret, toleranceSeconds = 300, now = Date.now() } = signed;
  const [, time, hex] = HEADER.exec(signature ?? "") ?? [];
  if (time === undefined || hex === undefined || sharedSecret === "") return null;
  const bytes = (text: string) => new TextEncoder().encode(text);
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes(sharedSecret), algorithm, false, ["verify"]);
  const claimed = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  if (!(await crypto.subtle.verify("HMAC", key, claimed, bytes(body)))) return null;
  const delivery = JSON.parse(body) as WebhookDelivery;
  // The header's time is not part of what is signed; the body's is.
  if (delivery.timestamp !== Number(time) || Math.abs(now - delivery.timestamp) > toleranceSeconds * 1000) return null;
  return delivery;
}
