import type { SessionDvr } from "../dvr/session-dvr.ts";
import type { ListedRendition } from "../packaging/hls/live-multivariant.ts";
import type { WindowRendition } from "../packaging/window-rendition.ts";
import type { Sent } from "../sent.ts";

/** A session, or undefined if there is none. A promise, of a second at most, where another process must be asked: the hot path makes none. */
export type FoundSource = LiveSource | undefined | Promise<LiveSource | undefined>;

/** Finds live sessions. */
export interface LiveSources {
  session(sessionId: string): FoundSource;
  /** The newest session of a playback id. */
  sessionOf(playbackId: string): FoundSource;
}

/** What delivery needs of a live session: of the hub's, or of the copy of another process's. */
export interface LiveSource {
  readonly sessionId: string;
  readonly playbackId: string;
  readonly isFinished: boolean;
  /** Another node goes on with it. */
  readonly isLeft: boolean;
  readonly outputs: LiveWindow;
  readonly sent: Sent;
  /** Null if viewers cannot go back here. */
  readonly dvr: SessionDvr | null;
}

export interface LiveWindow {
  /** The renditions currently offered to viewers; empty until the tracks are known. */
  readonly listed: readonly ListedRendition[];
  playlist(rendition: string): LiveList | undefined;
}

/** A rendition with its playlist. */
export interface LiveList {
  readonly rendition: WindowRendition;
  /** The current playlist in ASCII, the same text for every viewer. */
  text(): string;
}
