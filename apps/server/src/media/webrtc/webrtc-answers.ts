import type { ServerResponse } from "node:http";
import { REQUEST_ID_HEADER, requestIdOf } from "../../platform/http/request-id.ts";
import type { OfferRefusal } from "./webrtc-offer.ts";

export const UNANSWERED: OfferRefusal = {
  status: 503,
  sentence: "The offer cannot be answered right now. Try again in a moment.",
};

/** A stream that is offline (404) may start at any time. */
const RETRY_AFTER_SECONDS: Partial<Record<OfferRefusal["status"], number>> = { 404: 2, 429: 60, 503: 2 };

export function sendRefusal(res: ServerResponse, { status, sentence }: OfferRefusal): void {
  const seconds = RETRY_AFTER_SECONDS[status];
  if (seconds !== undefined) res.setHeader("retry-after", String(seconds));
  send(res, status, sentence);
}

/** Plain text, which public players display or search for keywords. */
export function send(res: ServerResponse, status: number, sentence: string): void {
  if (res.headersSent) return void res.destroy();
  res.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "content-length": String(Buffer.byteLength(sentence)),
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    [REQUEST_ID_HEADER]: requestIdOf(res.req),
  });
  res.end(sentence);
}
