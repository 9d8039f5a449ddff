import type { TranscodingReport } from "../../ports/index.ts";

export type SourceOnlyCause = NonNullable<TranscodingReport["cause"]>;

/**
 * Transcoding of one session (docs/lifecycles.md): *off* without a ladder, *starting* until its first rung packets, *running*, or *source-only*
 * with the reason, which is checked again. A ladder whose rungs are all paused is source only until one of them is made in time.
 */
export type TranscodingStatus =
  | { readonly state: "off" }
  | { readonly state: "starting" }
  | { readonly state: "running" }
  | { readonly state: "source-only"; readonly reason: string; readonly cause: SourceOnlyCause };

export type TranscodingInput =
  | { readonly type: "admitted" }
  | { readonly type: "refused"; readonly reason: string }
  | { readonly type: "segment-done" }
  | { readonly type: "all-paused"; readonly reason: string }
  | { readonly type: "child-died" }
  | { readonly type: "gave-up"; readonly reason: string; readonly cause: SourceOnlyCause }
  | { readonly type: "session-ended" };

/** The next state. Throws for an impossible pair, naming both. */
export function nextTranscodingStatus(status: TranscodingStatus, input: TranscodingInput): TranscodingStatus {
  switch (input.type) {
    case "session-ended":
      return { state: "off" };
    case "admitted":
      if (status.state === "off" || status.state === "source-only") return { state: "starting" };
      break;
    case "refused":
      if (status.state === "off" || status.state === "source-only")
        return { state: "source-only", reason: input.reason, cause: "machine-full" };
      break;
    case "segment-done":
      if (status.state === "starting" || status.state === "running" || isPaused(status)) return { state: "running" };
      break;
    case "all-paused":
      if (status.state === "off" || status.state === "starting" || status.state === "running" || isPaused(status))
        return { state: "source-only", reason: input.reason, cause: "too-slow" };
      break;
    case "child-died":
      if (status.state === "starting" || status.state === "running") return { state: "starting" };
      if (isPaused(status)) return status;
      break;
    case "gave-up":
      if (status.state === "starting" || status.state === "running" || isPaused(status))
        return { state: "source-only", reason: input.reason, cause: input.cause };
      break;
  }
  throw new Error(`transcoding cannot take "${input.type}" while ${status.state}`);
}

/** The machine is too slow for any rung; one may be on trial. */
export function isPaused(status: TranscodingStatus): boolean {
  return status.state === "source-only" && status.cause === "too-slow";
}
