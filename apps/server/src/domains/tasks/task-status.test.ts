import type { TaskPhase } from "@weir/contract";
import { describe, expect, it } from "vitest";
import { nextTaskPhase, type TaskStep } from "./task-status.ts";

const LEGAL: readonly (readonly [TaskPhase, TaskStep, TaskPhase])[] = [
  ["pending", "received", "waiting"],
  ["pending", "fail", "failed"],
  ["waiting", "begin", "running"],
  ["waiting", "fail", "failed"],
  ["running", "begin", "running"],
  ["running", "finish", "completed"],
  ["running", "fail", "failed"],
  ["failed", "retry", "waiting"],
];
const PHASES: readonly TaskPhase[] = ["pending", "waiting", "running", "completed", "failed", "cancelled"];
const STEPS: readonly TaskStep[] = ["received", "begin", "finish", "fail", "retry"];

describe("a task", () => {
  it.each(LEGAL)("%s, %s: %s", (phase, step, next) => {
    expect(nextTaskPhase(phase, step)).toBe(next);
  });

  const illegal = PHASES.flatMap((phase) => STEPS.map((step) => [phase, step] as const)).filter(
    ([phase, step]) => !LEGAL.some(([from, by]) => from === phase && by === step),
  );
  it.each(illegal)("%s has no way by %s", (phase, step) => {
    expect(() => nextTaskPhase(phase, step)).toThrow(`no way from "${phase}" by "${step}"`);
  });
});
