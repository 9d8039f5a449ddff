import type { Feed } from "../../feed/session-feed.ts";
import type { WatchableRung } from "../../ladder/live-ladder.ts";
import type { Sent } from "../../sent.ts";

/** What WebRTC delivery needs of live sessions. Implemented by the hub. */
export interface WhepSessions {
  sessionOf(playbackId: string): WhepSession | undefined;
}

export interface WhepSession {
  readonly sessionId: string;
  readonly isFinished: boolean;
  /** Another node has the session now. */
  readonly isLeft: boolean;
  /** `endTicks`: where the newest sample ends, at 90 kHz. */
  readonly timeline: { readonly position: { readonly endTicks: number } };
  readonly outputs: { readonly feed: Feed; readonly watchableRungs: readonly WatchableRung[] };
  readonly sent: Sent;
}
