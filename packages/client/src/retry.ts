import type { WeirError } from "./weir-error.ts";

const FIRST_MS = 250;
const LONGEST_MS = 8_000;
/** A server that asks for more patience than this has a problem that its caller should see. */
const LONGEST_ASKED_MS = 30_000;

/**
 * Whether the same call may succeed later, and repeating it does no harm. 429 and 503 had no effect, nor has a POST that the server still works
 * on. Of a broken connection nobody knows: a repeated POST has its key, and every other method the same effect twice as once.
 */
export function isWorthRetry({ status, code, retryAfterMs }: WeirError, method: string, hasKey: boolean): boolean {
  if (retryAfterMs !== null && retryAfterMs > LONGEST_ASKED_MS) return false;
  if (status === 429 || status === 503) return true;
  if (code === "unreachable") return method !== "POST" || hasKey;
  if (code === "timeout") return method === "GET";
  return status === 409 && code === "in-progress";
}

/** How long to wait before retry number `retries` + 1: at least as long as the server asks for. */
export function backOffMs(retries: number, retryAfterMs: number | null): number {
  const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** retries);
  return Math.max(retryAfterMs ?? 0, longest * (0.5 + Math.random() / 2));
}
