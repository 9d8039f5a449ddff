import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** Header of every response of the API, and of every error. */
export const REQUEST_ID_HEADER = "x-request-id";

const ids = new WeakMap<IncomingMessage, string>();

/** Identifies a request in its response and in the log. Made when first asked for, so that a segment's request costs nothing. */
export function requestIdOf(request: IncomingMessage): string {
  const known = ids.get(request);
  if (known !== undefined) return known;
  const id = randomBytes(8).toString("hex");
  ids.set(request, id);
  return id;
}
