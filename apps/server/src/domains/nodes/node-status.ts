import { IllegalTransition } from "../illegal-transition.ts";

/** `joining`: registering. `serving`: has a valid lease. `draining`: accepts no new publishers. `gone`: left, or its lease expired. */
export type NodeState = "joining" | "serving" | "draining" | "gone";
export type NodeInput = "join" | "ready" | "drain" | "leave" | "lease-expired";

const table: Record<NodeState, Partial<Record<NodeInput, NodeState>>> = {
  joining: { join: "joining", ready: "serving", leave: "gone", "lease-expired": "gone" },
  // A killed node rejoined under its name before its lease expired.
  serving: { join: "joining", drain: "draining", leave: "gone", "lease-expired": "gone" },
  draining: { join: "joining", drain: "draining", leave: "gone", "lease-expired": "gone" },
  gone: { join: "joining" },
};

/** The transition table of a node's lifecycle. Throws `IllegalTransition` for a pair that is not in it. */
export function nextNodeStatus(state: NodeState, input: NodeInput): NodeState {
  const next = table[state][input];
  if (!next) throw new IllegalTransition("node", state, input);
  return next;
}
