/** The live window of a session at a node that does not have it: told by its owner, and copied by the node. */
export { FollowedSessions, type ToldSent } from "./followed-sessions.ts";
export { Handover, type ToldMove } from "./handover.ts";
export { WindowServer } from "./window-server.ts";
