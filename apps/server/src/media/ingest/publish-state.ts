import type { Publication } from "../packet.ts";

/** One connection's way: *waiting* for a key → *asking* the gate about it → *publishing* → *closed*, which each state may turn into. */
export type PublishState =
  | { readonly at: "waiting" }
  | { readonly at: "asking" }
  | { readonly at: "publishing"; readonly publication: Publication }
  | { readonly at: "closed" };

export const WAITING: PublishState = { at: "waiting" };
export const CLOSED: PublishState = { at: "closed" };

/** A key came. Null where it comes out of turn: a connection has one key. */
export function afterKey(state: PublishState): PublishState | null {
  return state.at === "waiting" ? { at: "asking" } : null;
}

/** The key was accepted, and the hub has a place for it. Null where the connection was closed meanwhile. */
export function afterGrant(state: PublishState, publication: Publication): PublishState | null {
  if (state.at === "closed") return null;
  if (state.at !== "asking") throw new Error(`a grant came to a connection that is ${state.at}`);
  return { at: "publishing", publication };
}
