import type { TaskPhase } from "@weir/contract";
import { nextTaskPhase, type TaskStep } from "../tasks/index.ts";

/**
 * `uploading`: the upload is not complete. `waiting`: for the file to reach the object store, then for a worker. `processing`: a worker has begun.
 * Whether the asset is playable, and whether its owner deleted it, are separate from the phase.
 */
export type AssetPhase = "uploading" | "waiting" | "processing" | "ready" | "failed";

const phaseOfTask = {
  uploading: "pending",
  waiting: "waiting",
  processing: "running",
  ready: "completed",
  failed: "failed",
} as const satisfies Record<AssetPhase, TaskPhase>;

const PHASES = Object.keys(phaseOfTask) as AssetPhase[];

/** An asset's lifecycle is that of the task that makes it. Throws `IllegalTransition` for a step that it does not have. */
export function nextAssetPhase(phase: AssetPhase, step: TaskStep): AssetPhase {
  const next = nextTaskPhase(phaseOfTask[phase], step);
  return PHASES.find((each) => phaseOfTask[each] === next) ?? phase;
}

/** Whether the phase changes only at the owner's request. */
export const isSettled = (phase: AssetPhase): boolean => phase === "ready" || phase === "failed";

/** The phase of the task that makes the asset. */
export const taskPhaseOf = (phase: AssetPhase, isDeleted: boolean): TaskPhase =>
  isDeleted && !isSettled(phase) ? "cancelled" : phaseOfTask[phase];
