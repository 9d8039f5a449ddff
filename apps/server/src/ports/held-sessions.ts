/** What a node takes for its own, and what the rows say about it. */

import type { StopReason } from "./media-control.ts";

/** A session that this node serves as its owner. */
export interface HeldSession {
  readonly streamId: string;
  readonly sessionId: string;
  readonly epoch: number;
  /** Packets arrive. */
  readonly isLive: boolean;
}

/** Why a session is another's, or nobody's any more. `window-over`: it ended while its node could not reach the database. */
export type LossReason = StopReason | "moved" | "window-over";

/** Asked and told by the node's membership at each heartbeat. Both return at once. */
export interface HeldSessions {
  held(): readonly HeldSession[];
  /** The session was lost: its publisher is let go, and nothing is sent or recorded for it any more. */
  lost(session: HeldSession, why: LossReason): void;
}
