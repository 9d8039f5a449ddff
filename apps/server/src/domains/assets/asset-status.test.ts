import { describe, expect, it } from "vitest";
import { type AssetPhase, nextAssetPhase, taskPhaseOf } from "./asset-status.ts";

const PHASES: readonly AssetPhase[] = ["uploading", "waiting", "processing", "ready", "failed"];

it("an asset goes from its upload to ready, or fails and is retried", () => {
  const steps = ["received", "begin", "begin", "finish"] as const;
  const passed: AssetPhase[] = ["uploading"];
  for (const step of steps) passed.push(nextAssetPhase(passed.at(-1) ?? "failed", step));
  expect(passed).toEqual(["uploading", "waiting", "processing", "processing", "ready"]);
  expect(nextAssetPhase("processing", "fail")).toBe("failed");
  expect(nextAssetPhase("failed", "retry")).toBe("waiting");
  expect(() => nextAssetPhase("ready", "fail")).toThrow("no way");
});

describe("the task of an asset", () => {
  it.each([
    ["uploading", "pending"],
    ["waiting", "waiting"],
    ["processing", "running"],
    ["ready", "completed"],
    ["failed", "failed"],
  ] as const)("%s: %s", (phase, task) => {
    expect(taskPhaseOf(phase, false)).toBe(task);
  });

  it("is cancelled where the asset is deleted before it is settled, and stays over where it was over", () => {
    expect(PHASES.map((phase) => taskPhaseOf(phase, true))).toEqual([
      "cancelled",
      "cancelled",
      "cancelled",
      "completed",
      "failed",
    ]);
  });
});
