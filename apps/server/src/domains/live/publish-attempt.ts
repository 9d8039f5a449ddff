import { IllegalTransition } from "../illegal-transition.ts";

export type PublishAttemptReason =
  | "unknown-key"
  | "suspended"
  | "deleted"
  | "unsupported-codec"
  | "too-many"
  | "draining"
  | "unavailable";

/** One attempt to publish: asked once, answered once. */
export type PublishAttempt =
  | { readonly state: "asked" }
  | { readonly state: "accepted" }
  | { readonly state: "refused"; readonly reason: PublishAttemptReason };

export type PublishAttemptInput =
  | { readonly type: "grant" }
  | { readonly type: "refuse"; readonly reason: PublishAttemptReason };

/** `asked → accepted | refused(reason)`; any other transition throws `IllegalTransition`. */
export function nextPublishAttempt(attempt: PublishAttempt, input: PublishAttemptInput): PublishAttempt {
  if (attempt.state !== "asked") throw new IllegalTransition("publish attempt", attempt.state, input.type);
  return input.type === "grant" ? { state: "accepted" } : { state: "refused", reason: input.reason };
}
