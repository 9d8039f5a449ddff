import { describe, expect, it } from "vitest";
import { type AssetInput, type AssetPhase, nextAssetPhase, taskPhaseOf } from "./asset-status.ts";

const LEGAL: readonly (readonly [AssetPhase, AssetInput, AssetPhase])[] = [
  ["uploading", "received", "waiting"],
  ["uploading", "fail", "failed"],
  ["waiting", "begin", "processing"],
  ["waiting", "fail", "failed"],
  ["processing", "begin", "processing"],
  ["processing", "finish", "ready"],
  ["processing", "fail", "failed"],
  ["failed", "retry", "waiting"],
];
const PHASES: readonly AssetPhase[] = ["uploading", "waiting", "processing", "ready", "failed"];
const INPUTS: readonly AssetInput[] = ["received", "begin", "finish", "fail", "retry"];

describe("an asset", () => {
  it.each(LEGAL)("%s, %s: %s", (phase, input, next) => {
    expect(nextAssetPhase(phase, input)).toBe(next);
  });

  const illegal = PHASES.flatMap((phase) => INPUTS.map((input) => [phase, input] as const)).filter(
    ([phase, input]) => !LEGAL.some(([from, by]) => from === phase && by === input),
  );
  it.each(illegal)("%s has no way by %s", (phase, input) => {
    expect(() => nextAssetPhase(phase, input)).toThrow(`no way from "${phase}" by "${input}"`);
  });
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
