import type { TaskPhase } from "@weir/contract";
import { IllegalTransition } from "../illegal-transition.ts";

export type TaskStep = "received" | "begin" | "finish" | "fail" | "retry";

const table: Record<TaskPhase, Partial<Record<TaskStep, TaskPhase>>> = {
  /** Its file is being uploaded. */
  pending: { received: "waiting", fail: "failed" },
  waiting: { begin: "running", fail: "failed" },
  // The next run begins it again after a fault or a kill.
  running: { begin: "running", finish: "completed", fail: "failed" },
  completed: {},
  failed: { retry: "waiting" },
  /** The owner deleted what it makes. */
  cancelled: {},
};

/** The table of a task's lifecycle, whatever kind it is. Throws `IllegalTransition` for a pair that is not in it. */
export function nextTaskPhase(phase: TaskPhase, step: TaskStep): TaskPhase {
  const next = table[phase][step];
  if (!next) throw new IllegalTransition("task", phase, step);
  return next;
}

export const isInWork = (phase: TaskPhase): boolean => phase === "waiting" || phase === "running";
