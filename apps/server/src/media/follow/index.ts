/** The live window of a session at a node that does not have it: told by its owner, and copied by the node. */
export { FollowedSessions } from "./followed-sessions.ts";
export type { ToldSent } from "./following.ts";
export { Handover, type ToldMove } from "./handover.ts";
export { WindowServer } from "./window-server.ts";
