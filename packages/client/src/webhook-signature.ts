import type { WebhookDelivery } from "@weir/contract";

/** A received webhook call, and the shared secret. */
export interface SignedBody {
  /** The body exactly as received, before any parsing. */
  readonly body: string;
  /** The header `Service-Signature`, or `Livepeer-Signature`, which has the same value. */
  readonly signature: string | null | undefined;
  readonly sharedSecret: string;
  /** Maximum age of a call in seconds; default 300. The signature covers the time in the body, so an old call cannot be replayed. */
  readonly toleranceSeconds?: number;
  /** Milliseconds since the Unix epoch; defaults to the current time. */
  readonly now?: number;
}

const HEADER = /^t=(\d{1,15}),v1=([0-9a-f]{64})$/;

/**
 * The webhook call in this body if the signature is correct and the call is recent; null otherwise. For Node and anything else with Web Crypto.
 *
 * @example
 * const body = await request.text();
 * const delivery = await verifyWebhook({ body, signature: request.headers.get("service-signature"), sharedSecret });
 * if (delivery === null) throw new Error("not from Weir");
 * console.log(delivery.event, delivery.id);
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
  // The signature does not cover the header's time, only the body's.
  if (delivery.timestamp !== Number(time) || Math.abs(now - delivery.timestamp) > toleranceSeconds * 1000) return null;
  return delivery;
}
