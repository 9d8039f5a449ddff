/** The requests of the domain floor to the media floor. */

import type { StoredContent } from "./playback-gate.ts";

export type StopReason = "terminated" | "suspended" | "deleted" | "key-rotated";

export interface MediaControl {
  /**
   * Close the stream's publisher wherever it is. `terminated` leaves viewers to finish the playlist, `suspended` and `deleted` refuse them
   * at once; after `key-rotated` the session waits for the broadcaster to come back with the new key, as after a lost source.
   */
  stop(streamId: string, why: StopReason): Promise<void>;
  /** Keys or policies changed: every kept answer about this playback id, or about all of them, is asked for again at once. */
  accessChanged(playbackId: string | "all"): Promise<void>;
  /** The multistream targets of a stream have changed: its session asks for them. */
  targetsChanged(streamId: string): Promise<void>;
  /** The recording is ready: tell the `PlaybackGate` how large its MP4 is. Skipped where no media node is serving. */
  measureRecording(content: StoredContent): Promise<void>;
  /** Put what is recorded of a running session so far into the object store, where a clip is cut from. Facts tell when it is there. */
  sealRecording(sessionId: string): Promise<void>;
  /** Send a generated picture and tone to the stream by its own ingest, for `seconds`. */
  startTestBroadcast(streamKey: string, seconds: number): Promise<void>;
}
