import type { ListedRendition } from "../../packaging/hls/live-multivariant.ts";
import type { LiveRendition } from "../../packaging/live-rendition.ts";

/** Where live sessions are found. */
export interface LiveSources {
  session(sessionId: string): LiveSource | undefined;
  /** The newest of a playback id. */
  sessionOf(playbackId: string): LiveSource | undefined;
}

/** All that delivery needs of a live session. The hub's sessions are that; a node that fetches a session from another one is, too. */
export interface LiveSource {
  readonly sessionId: string;
  readonly playbackId: string;
  readonly isFinished: boolean;
  readonly pipeline: LiveWindow;
  /** Bytes sent to viewers; delivery adds to it. */
  bytesSent: number;
  /** How often each was sent to viewers; delivery adds to it. */
  readonly sent: { playlist: number; part: number; segment: number };
}

export interface LiveWindow {
  /** The renditions that a viewer may choose from now; empty until the tracks are known. */
  readonly listed: readonly ListedRendition[];
  playlist(rendition: string): LiveList | undefined;
}

/** A rendition with its playlist. */
export interface LiveList {
  readonly rendition: LiveFiles;
  /** The playlist as it stands, ASCII: one text for every viewer. */
  text(): string;
}

/** The files of a rendition, complete and coming. */
export type LiveFiles = Pick<
  LiveRendition,
  | "name"
  | "listed"
  | "firstMsn"
  | "open"
  | "hasEnded"
  | "targetDuration"
  | "newestPart"
  | "nextPart"
  | "segment"
  | "isComplete"
  | "onChange"
>;
