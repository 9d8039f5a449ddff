/** What is stored, and where its bytes are. Says nothing about who may watch it: that is the `PlaybackGate`'s. */

import type { MediaIndex } from "./media-index.ts";

/** A complete piece of media in the object store. A recording has the id of its session. */
export interface StoredContent {
  readonly kind: "recording" | "asset";
  readonly id: string;
  readonly projectId: string;
  /** The original is not for this viewer: its owner keeps originals to holders of owner tokens. */
  readonly isOriginalWithheld?: boolean;
}

export interface MediaCatalogue {
  /** The playback id of a session's recording; null if there is none. */
  recordingOf(sessionId: string): Promise<string | null>;
  /** The newest recording of a stream that plays and has pictures; null if there is none. It has the policy of its stream. */
  newestRecordingOf(streamId: string): Promise<StoredContent | null>;
  /** The location of the bytes of stored content; null until it is ready. */
  mediaIndex(content: StoredContent): Promise<MediaIndex | null>;
  /** Reports the size of stored content as one MP4. Returns at once. */
  noteMp4Size(content: StoredContent, bytes: number): void;
}
