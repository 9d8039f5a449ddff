/** The answer of a customer's webhook about a viewer; `silent` is no response at all: a time-out, a refused or broken connection. */
export type WebhookVerdict = "allowed" | "refused" | "silent";

/**
 * What those who watch with one access key may do until they are asked about again, at `askAt` by the monotonic clock. `unconfirmed`:
 * the webhook is silent, and it has never let them in as far as this process knows, or too long ago.
 */
export type Standing =
  | { readonly verdict: "allowed"; readonly askAt: number; readonly graceEndsAt: number }
  | { readonly verdict: "refused" | "unconfirmed"; readonly askAt: number };

/** How long a yes outlives its refresh interval while the webhook is silent. */
export const GRACE_MS = 5 * 60_000;
/** How soon a silent webhook is asked again. */
const AGAIN_MS = 10_000;

/** A response replaces what stood before. Silence replaces nothing: a no stays a no, and a yes is over when its grace is. */
export function afterVerdict(
  before: Standing | undefined,
  verdict: WebhookVerdict,
  { now, refreshMs }: { readonly now: number; readonly refreshMs: number },
): Standing {
  const dueAt = now + refreshMs;
  if (verdict === "allowed") return { verdict, askAt: dueAt, graceEndsAt: dueAt + GRACE_MS };
  if (verdict === "refused") return { verdict, askAt: dueAt };
  const againAt = now + Math.min(AGAIN_MS, refreshMs);
  if (before?.verdict === "refused") return { ...before, askAt: againAt };
  if (before?.verdict === "allowed" && now < before.graceEndsAt)
    return { ...before, askAt: Math.min(againAt, before.graceEndsAt) };
  return { verdict: "unconfirmed", askAt: againAt };
}
