/** Requests from the domain floor to the media floor. */

import type { ClipMoments } from "./clip-maker.ts";
import type { StoredContent } from "./media-catalogue.ts";
import type { PullSource, SourceTrial } from "./pull-gate.ts";

export type StopReason = "terminated" | "suspended" | "deleted" | "key-rotated";

/** `not-here`: no media process holds the session, or has anything of those moments. `too-many`: others are being stored. */
export type StoreAnswer = "stored" | "not-here" | "too-many" | "failed";

/** A stream's newest owner. */
export interface StreamMove {
  readonly streamId: string;
  readonly sessionId: string;
  readonly epoch: number;
  readonly nodeId: string;
  /** Where other nodes reach it; null if they do not. */
  readonly address: string | null;
}

export interface MediaControl {
  /**
   * The stream has a new owner on another node than before: an earlier one lets its publisher go, and sends and records no more. Where nodes reach each
   * other, also at the begin of each broadcast, so that all know its place at once.
   */
  moved(move: StreamMove): Promise<void>;
  /**
   * Close the stream's publisher, on whichever node it is. `terminated` lets viewers finish the playlist; `suspended` and `deleted` refuse
   * viewers at once. After `key-rotated` the session waits for the broadcaster to return with the new key, as after a lost connection.
   */
  stop(streamId: string, why: StopReason): Promise<void>;
  /** Keys or policies changed: ask the gate again, at once, for every cached answer about this playback id, or about all of them. */
  accessChanged(playbackId: string | "all"): Promise<void>;
  /** The multistream targets of a stream changed: its session fetches them again. */
  targetsChanged(streamId: string): Promise<void>;
  /** The recording is ready: report the size of its MP4 to the `MediaCatalogue`. Does nothing if no media node is serving. */
  measureRecording(content: StoredContent): Promise<void>;
  /**
   * Put what a session shows between two moments into the object store, once it is complete there: into its recording, or, if it is not recorded, where
   * the `ClipMaker` finds it. Answers when the object store has it and the database knows, or when it cannot be done. Safe to repeat.
   */
  storeMoments(moments: ClipMoments): Promise<StoreAnswer>;
  /** Send a generated picture and tone to the stream through its own ingest, for `seconds`. */
  startTestBroadcast(streamKey: string, seconds: number): Promise<void>;
  /** Connect to a source as a pull does, and say what it has. Answers within 15 s. The source is at most 6,000 bytes as JSON. */
  trySource(source: Pick<PullSource, "url" | "headers">): Promise<SourceTrial>;
}
