import { describe, expect, it } from "vitest";
import { type NodeInput, type NodeState, nextNodeStatus } from "./node-status.ts";

describe("node", () => {
  const rows: [NodeState, NodeInput, NodeState][] = [
    ["joining", "ready", "serving"],
    ["serving", "drain", "draining"],
    ["serving", "lease-expired", "gone"],
    ["serving", "leave", "gone"],
    ["serving", "join", "joining"],
    ["draining", "leave", "gone"],
    ["draining", "lease-expired", "gone"],
    ["gone", "join", "joining"],
  ];
  it.each(rows)("%s, %s: %s", (state, input, next) => expect(nextNodeStatus(state, input)).toBe(next));

  const illegal: [NodeState, NodeInput][] = [
    ["gone", "ready"],
    ["gone", "drain"],
    ["gone", "lease-expired"],
    ["serving", "ready"],
    ["joining", "drain"],
  ];
  it.each(illegal)("%s, %s: no such way, and the error names both", (state, input) => {
    expect(() => nextNodeStatus(state, input)).toThrow(`node: no way from "${state}" by "${input}"`);
  });
});
