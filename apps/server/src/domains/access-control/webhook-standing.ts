/** A customer webhook's answer about a viewer. `silent` means no response: a timeout, or a refused or broken connection. */
export type WebhookVerdict = "allowed" | "refused" | "silent";

/**
 * What current viewers with one access key may do until the next question, at `askAt` by the monotonic clock. `unconfirmed`: the webhook is
 * silent, and as far as this process knows it never approved them, or did so too long ago.
 */
export type Standing =
  | { readonly verdict: "allowed"; readonly askAt: number; readonly graceEndsAt: number }
  | { readonly verdict: "refused" | "unconfirmed"; readonly askAt: number };

/** How long an approval outlives its refresh interval while the webhook is silent. */
export const GRACE_MS = 5 * 60_000;
/** Retry interval while a webhook is silent. */
const AGAIN_MS = 10_000;

/** A response replaces the previous one. Silence replaces nothing: a refusal stays, and an approval ends with its grace period. */
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
