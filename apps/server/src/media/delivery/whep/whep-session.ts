import type { SessionFeed } from "../../feed/session-feed.ts";

/** Live sessions, as far as WebRTC viewers need them. The hub's are that. */
export interface WhepSessions {
  sessionOf(playbackId: string): WhepSession | undefined;
}

export interface WhepSession {
  readonly sessionId: string;
  readonly isFinished: boolean;
  readonly pipeline: { readonly feed: Pick<SessionFeed, "attach"> };
  /** Bytes sent to viewers; delivery adds to it. */
  bytesSent: number;
}

/** How the outside reaches the WebRTC port. */
export interface WebrtcAddress {
  /** The configured addresses; null where the addresses have to be found. */
  readonly addresses: readonly string[] | null;
  readonly host: string;
  readonly port: number;
}
