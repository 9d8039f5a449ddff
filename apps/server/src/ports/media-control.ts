/** Requests from the domain floor to the media floor. */

import type { ClipWindow } from "./clip-maker.ts";
import type { StoredContent } from "./playback-gate.ts";

export type StopReason = "terminated" | "suspended" | "deleted" | "key-rotated";

export interface MediaControl {
  /**
   * Close the stream's publisher, on whichever node it is. `terminated` lets viewers finish the playlist; `suspended` and `deleted` refuse
   * viewers at once. After `key-rotated` the session waits for the broadcaster to return with the new key, as after a lost connection.
   */
  stop(streamId: string, why: StopReason): Promise<void>;
  /** Keys or policies changed: ask the gate again, at once, for every cached answer about this playback id, or about all of them. */
  accessChanged(playbackId: string | "all"): Promise<void>;
  /** The multistream targets of a stream changed: its session fetches them again. */
  targetsChanged(streamId: string): Promise<void>;
  /** The recording is ready: report the size of its MP4 to the `PlaybackGate`. Does nothing if no media node is serving. */
  measureRecording(content: StoredContent): Promise<void>;
  /**
   * Move what a running session records up to a program date-time (milliseconds since the epoch) into the object store, as soon as it is recorded,
   * so that a clip can be cut from it. Facts report when it is there.
   */
  sealRecording(sessionId: string, untilMs: number): Promise<void>;
  /** Keep what a running session shows now, up to the end of the clip, where the `ClipMaker` finds it. Nothing happens where the session is not live. */
  keepWindow(window: ClipWindow): Promise<void>;
  /** Send a generated picture and tone to the stream through its own ingest, for `seconds`. */
  startTestBroadcast(streamKey: string, seconds: number): Promise<void>;
}
