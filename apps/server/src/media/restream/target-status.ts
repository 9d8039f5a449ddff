/**
 * State of a multistream target in one session (docs/lifecycles.md): *pending* while connecting, *online* while the target accepts the stream,
 * *offline* after it was given up, which is final for the session.
 */
export type TargetStatus =
  | { readonly state: "idle" }
  | {
      readonly state: "pending";
      readonly attempt: number;
      /** Why the previous attempt failed. */
      readonly reason: string | null;
    }
  | { readonly state: "online" }
  | { readonly state: "offline"; readonly reason: string };

export type TargetInput =
  | { readonly type: "wanted" }
  | { readonly type: "accepted" }
  /** `isTemporary`: a retry may succeed. */
  | { readonly type: "lost"; readonly reason: string; readonly isTemporary: boolean }
  | { readonly type: "unwanted" };

/** The webhook event for a change; null for none. */
export type TargetEvent = "connected" | "error" | "disconnected" | null;

export const MAX_ATTEMPTS = 10;
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;

/** Delay before the next attempt after this many consecutive failures. */
export const retryMs = (failures: number): number => Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS);

/** The next status and its event. Throws for an impossible pair, naming both. */
export function nextTargetStatus(
  status: TargetStatus,
  input: TargetInput,
): { status: TargetStatus; event: TargetEvent } {
  const { state } = status;
  switch (input.type) {
    case "wanted":
      if (state === "idle") return { status: { state: "pending", attempt: 1, reason: null }, event: null };
      break;
    case "accepted":
      if (state === "pending") return { status: { state: "online" }, event: "connected" };
      break;
    case "lost": {
      if (state !== "pending" && state !== "online") break;
      const { reason, isTemporary } = input;
      const attempt = state === "online" ? 1 : status.attempt + 1;
      if (!isTemporary || attempt > MAX_ATTEMPTS) return { status: { state: "offline", reason }, event: "error" };
      return { status: { state: "pending", attempt, reason }, event: state === "online" ? "error" : null };
    }
    case "unwanted":
      return { status: { state: "idle" }, event: state === "pending" || state === "online" ? "disconnected" : null };
  }
  throw new Error(`a multistream target cannot take "${input.type}" while ${state}`);
}
