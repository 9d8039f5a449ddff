import type { TaskPhase } from "@weir/contract";
import { IllegalTransition } from "../illegal-transition.ts";

/**
 * `uploading`: its uploader is not done. `waiting`: for its bytes to be in the object store, then for a worker. `processing`: a worker has begun. Whether it can
 * be watched, and whether its owner deleted it, are facts beside the phase.
 */
export type AssetPhase = "uploading" | "waiting" | "processing" | "ready" | "failed";
export type AssetInput = "received" | "begin" | "finish" | "fail" | "retry";

const table: Record<AssetPhase, Partial<Record<AssetInput, AssetPhase>>> = {
  uploading: { received: "waiting", fail: "failed" },
  waiting: { begin: "processing", fail: "failed" },
  // It is begun again where a worker died.
  processing: { begin: "processing", finish: "ready", fail: "failed" },
  ready: {},
  failed: { retry: "waiting" },
};

/** The table of an asset's lifecycle. Throws `IllegalTransition` for a pair that is not in it. */
export function nextAssetPhase(phase: AssetPhase, input: AssetInput): AssetPhase {
  const next = table[phase][input];
  if (!next) throw new IllegalTransition("asset", phase, input);
  return next;
}

/** Whether nothing more happens to it by itself. */
export const isSettled = (phase: AssetPhase): boolean => phase === "ready" || phase === "failed";

const phaseOfTask: Record<AssetPhase, TaskPhase> = {
  uploading: "pending",
  waiting: "waiting",
  processing: "running",
  ready: "completed",
  failed: "failed",
};

/** Where the task is that makes the asset. */
export const taskPhaseOf = (phase: AssetPhase, isDeleted: boolean): TaskPhase =>
  isDeleted && !isSettled(phase) ? "cancelled" : phaseOfTask[phase];
