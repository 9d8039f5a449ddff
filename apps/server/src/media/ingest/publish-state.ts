import type { Publication } from "../packet.ts";

/** State of a connection: *waiting* for a key → *asking* the gate → *publishing* → *closed*, which every state may change to. */
export type PublishState =
  | { readonly at: "waiting" }
  | { readonly at: "asking" }
  | { readonly at: "publishing"; readonly publication: Publication }
  | { readonly at: "closed" };

export const WAITING: PublishState = { at: "waiting" };
export const CLOSED: PublishState = { at: "closed" };

/** A key was received. Null if unexpected: a connection has only one key. */
export function afterKey(state: PublishState): PublishState | null {
  return state.at === "waiting" ? { at: "asking" } : null;
}

/** The key was accepted, and the hub opened a publication. Null if the connection was closed in the meantime. */
export function afterGrant(state: PublishState, publication: Publication): PublishState | null {
  if (state.at === "closed") return null;
  if (state.at !== "asking") throw new Error(`a grant came to a connection that is ${state.at}`);
  return { at: "publishing", publication };
}
