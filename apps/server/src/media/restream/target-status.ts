/**
 * A multistream target in one session (docs/lifecycles.md). *pending* while a connection is being made, *online* while the target takes
 * the stream, *offline* when it is given up: nothing leaves that within the session.
 */
export type TargetStatus =
  | { readonly state: "idle" }
  | {
      readonly state: "pending";
      readonly attempt: number /** Why the attempt before failed. */;
      readonly reason: string | null;
    }
  | { readonly state: "online" }
  | { readonly state: "offline"; readonly reason: string };

export type TargetInput =
  | { readonly type: "wanted" }
  | { readonly type: "accepted" }
  /** `mayHeal`: another attempt may succeed. */
  | { readonly type: "lost"; readonly reason: string; readonly mayHeal: boolean }
  | { readonly type: "unwanted" };

/** The webhook event of a change; null for nothing. */
export type TargetEvent = "connected" | "error" | "disconnected" | null;

export const MAX_ATTEMPTS = 10;
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;

/** How long to wait after so many failures in a row. */
export const retryMs = (failures: number): number => Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS);

/** The next status, and what is told of it. Throws for a pair that cannot be, naming both. */
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
      const { reason, mayHeal } = input;
      const attempt = state === "online" ? 1 : status.attempt + 1;
      if (!mayHeal || attempt > MAX_ATTEMPTS) return { status: { state: "offline", reason }, event: "error" };
      return { status: { state: "pending", attempt, reason }, event: state === "online" ? "error" : null };
    }
    case "unwanted":
      return { status: { state: "idle" }, event: state === "pending" || state === "online" ? "disconnected" : null };
  }
  throw new Error(`a multistream target cannot take "${input.type}" while ${state}`);
}
