import type { ListedRendition } from "../packaging/hls/live-multivariant.ts";
import type { LiveRendition } from "../packaging/live-rendition.ts";

/** Finds live sessions. */
export interface LiveSources {
  session(sessionId: string): LiveSource | undefined;
  /** The newest session of a playback id. */
  sessionOf(playbackId: string): LiveSource | undefined;
}

/** What delivery needs of a live session. Implemented by the hub's sessions; a node that relays a session of another node could implement it too. */
export interface LiveSource {
  readonly sessionId: string;
  readonly playbackId: string;
  readonly isFinished: boolean;
  readonly pipeline: LiveWindow;
  /** Bytes sent to viewers; incremented by delivery. */
  bytesSent: number;
  /** Number of responses sent to viewers; incremented by delivery. */
  readonly sent: { playlist: number; part: number; segment: number };
}

export interface LiveWindow {
  /** The renditions currently offered to viewers; empty until the tracks are known. */
  readonly listed: readonly ListedRendition[];
  playlist(rendition: string): LiveList | undefined;
}

/** A rendition with its playlist. */
export interface LiveList {
  readonly rendition: LiveFiles;
  /** The current playlist in ASCII, the same text for every viewer. */
  text(): string;
}

/** The complete and pending files of a rendition. */
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
