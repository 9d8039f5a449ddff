import type { SessionFeed } from "../../feed/session-feed.ts";
import type { LinkFigures } from "../../webrtc/link-meter.ts";

/** Live sessions, as far as WebRTC viewers need them. The hub's are that. */
export interface WhepSessions {
  sessionOf(playbackId: string): WhepSession | undefined;
}

export interface WhepSession {
  readonly sessionId: string;
  readonly isFinished: boolean;
  readonly pipeline: {
    readonly feed: Pick<SessionFeed, "attach">;
    /** Made now, without B-frames. */
    readonly watchableRungs: readonly WatchableRung[];
  };
  /** Bytes sent to viewers; delivery adds to it. */
  bytesSent: number;
  /** Those who watch by WebRTC, or were the last to; delivery sets it. */
  webrtcViewers: WebrtcViewers | null;
}

export interface WebrtcViewers {
  /** The source has B-frames, which WebRTC does not carry, and somebody watched or wanted to in the last minute. */
  readonly hasBFrames: boolean;
  /** Since the last look; null where nobody watches. */
  take(): (LinkFigures & { readonly count: number; readonly lowered: number }) | null;
}

/** A rung of the session's ladder, for viewers whose network does not carry the source. */
export interface WatchableRung {
  readonly id: string;
  readonly bitrateBps: number;
  /** Its pictures. */
  readonly feed: Pick<SessionFeed, "attach">;
}

/** How the outside reaches the WebRTC port. */
export interface WebrtcAddress {
  /** The configured addresses; null where the addresses have to be found. */
  readonly addresses: readonly string[] | null;
  readonly host: string;
  readonly port: number;
}
