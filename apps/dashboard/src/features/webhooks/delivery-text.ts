import type { WebhookLog } from "@weir/contract";
import { strings } from "../../shared/strings.ts";

const text = strings.webhooks.deliveries;

/** The outcome of a call: `200 OK`, or the reason why there was no answer. */
export function outcomeText({ response, error }: WebhookLog): string {
  return response ? text.answer(response.status, response.statusText) : (error ?? text.noAnswer);
}

/** The outcome at the beginning of a line: `The connection was refused`. */
export function outcomeTitle(delivery: WebhookLog): string {
  const outcome = outcomeText(delivery);
  return outcome.charAt(0).toUpperCase() + outcome.slice(1);
}

/** JSON set out in lines; anything else as it is. */
export function readableBody(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

/** The text that is stored as base64. It may end within a letter: only its beginning is kept. */
export function storedText(base64: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)));
}
