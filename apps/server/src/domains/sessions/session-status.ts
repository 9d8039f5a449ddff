import { IllegalTransition } from "../illegal-transition.ts";

export type SessionState = "live" | "ended";
export type SessionInput = "end";

/** `live → ended`, once. */
export function nextSessionStatus(state: SessionState, input: SessionInput): SessionState {
  if (state !== "live") throw new IllegalTransition("session", state, input);
  return "ended";
}
