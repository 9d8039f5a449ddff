import type { Feed } from "../../feed/session-feed.ts";
import type { LinkFigures } from "../../webrtc/link-meter.ts";

/** What WebRTC delivery needs of live sessions. Implemented by the hub. */
export interface WhepSessions {
  sessionOf(playbackId: string): WhepSession | undefined;
}

export interface WhepSession {
  readonly sessionId: string;
  readonly isFinished: boolean;
  readonly pipeline: {
    readonly feed: Feed;
    /** Currently encoded rungs, without B-frames. */
    readonly watchableRungs: readonly WatchableRung[];
    /** Where the newest sample ends on the timeline, at 90 kHz. */
    readonly position: { readonly endTicks: number };
  };
  /** Bytes sent to viewers; incremented by delivery. */
  bytesSent: number;
  /** The current or last WebRTC viewers; set by delivery. */
  webrtcViewers: WebrtcViewers | null;
}

export interface WebrtcViewers {
  /** The source has B-frames, which WebRTC does not support, and a viewer watched or tried to in the last minute. */
  readonly hasBFrames: boolean;
  /** Statistics since the last call; null without viewers. */
  take(): (LinkFigures & { readonly count: number; readonly lowered: number }) | null;
}

/** A rung of the session's ladder, for viewers whose network cannot carry the source. */
export interface WatchableRung {
  readonly id: string;
  readonly bitrateBps: number;
  /** Its video. */
  readonly feed: Feed;
}

/** How clients reach the WebRTC port. */
export interface WebrtcAddress {
  /** The configured addresses; null if they must be detected. */
  readonly addresses: readonly string[] | null;
  readonly host: string;
  readonly port: number;
}
