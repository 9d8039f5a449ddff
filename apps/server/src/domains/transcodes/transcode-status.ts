import { IllegalTransition } from "../illegal-transition.ts";

export type TranscodePhase = "waiting" | "running" | "completed" | "failed";
export type TranscodeStep = "begin" | "finish" | "fail" | "retry";

const table: Record<TranscodePhase, Partial<Record<TranscodeStep, TranscodePhase>>> = {
  waiting: { begin: "running", fail: "failed" },
  // It is begun again where a worker died.
  running: { begin: "running", finish: "completed", fail: "failed" },
  completed: {},
  failed: { retry: "waiting" },
};

/** The table of a transcode task's lifecycle. Throws `IllegalTransition` for a pair that is not in it. */
export function nextTranscodePhase(phase: TranscodePhase, step: TranscodeStep): TranscodePhase {
  const next = table[phase][step];
  if (!next) throw new IllegalTransition("task", phase, step);
  return next;
}

export const isInWork = (phase: string): boolean => phase === "waiting" || phase === "running";
