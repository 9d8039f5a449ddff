/** What is stored, and where its bytes are. Says nothing about who may watch it: that is the `PlaybackGate`'s. */

import type { MediaIndex, SealedSegments } from "./media-index.ts";

/** A complete piece of media in the object store. A recording has the id of its session. */
export interface StoredContent {
  readonly kind: "recording" | "asset";
  readonly id: string;
  readonly projectId: string;
  /** The original is not for this viewer: its owner keeps originals to holders of owner tokens. */
  readonly isOriginalWithheld?: boolean;
}

/** The recording of a session in which viewers of its stream can go back. */
export interface DvrRecording {
  readonly content: StoredContent;
  /** How far, from its end, in seconds. */
  readonly dvrSeconds: number;
}

export interface MediaCatalogue {
  /** The playback id of a session's recording; null if there is none. */
  recordingOf(sessionId: string): Promise<string | null>;
  /** The newest recording of a stream that plays and has pictures; null if there is none. It has the policy of its stream. */
  newestRecordingOf(streamId: string): Promise<StoredContent | null>;
  /** Of an ended session, or of the stream's newest; null if there is none, or its stream's viewers may not go back. */
  dvrRecording(streamId: string, sessionId: string | null): Promise<DvrRecording | null>;
  /** What the object store has of a recording, which may still grow: some at a time, because a day of them is many. Each rendition is in order. */
  sealedSegments(sessionId: string): AsyncIterable<SealedSegments>;
  /** The location of the bytes of stored content; null until it is ready. */
  mediaIndex(content: StoredContent): Promise<MediaIndex | null>;
  /** Reports the size of stored content as one MP4. Returns at once. */
  noteMp4Size(content: StoredContent, bytes: number): void;
}
