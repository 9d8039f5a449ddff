import type { FeedSink } from "../../feed/session-feed.ts";
import type { Track } from "../../packet.ts";
import type { Sample } from "../../timeline/timeline-sink.ts";
import type { PeerSource } from "../../webrtc/webrtc-process.ts";
import type { MediaFrame } from "../../webrtc/webrtc-protocol.ts";
import { parameterSetsOf, pictureBytes } from "./picture-bytes.ts";
import type { WatchableRung } from "./whep-session.ts";

/** Limit of the audio frames that wait for video: 10 s, far more than a ladder may lag. */
const MAX_WAITING = 500;

/**
 * A rung of the session's ladder, for viewers whose network cannot carry the source. Its audio is the source's, held back until the video of the
 * same time exists, because a viewer synchronizes media by arrival.
 */
export class WhepRung implements FeedSink {
  readonly source: PeerSource;
  readonly #onSent: (bytes: number) => void;
  readonly #detach: () => void;
  #parameterSets: Uint8Array = new Uint8Array();
  #waiting: MediaFrame[] = [];
  #waitsForKeyframe = true;

  constructor(rung: WatchableRung, source: PeerSource, onSent: (bytes: number) => void) {
    this.source = source;
    this.#onSent = onSent;
    this.#detach = rung.feed.attach(this, { from: "keyframe" });
  }

  /** Adds an audio frame of the source. */
  sound(frame: MediaFrame): void {
    this.#waiting.push(frame);
    if (this.#waiting.length > MAX_WAITING) this.#waiting.shift();
  }

  close(): void {
    this.#detach();
    this.source.close();
  }

  stretch([track]: readonly Track[]): void {
    if (track) this.#parameterSets = parameterSetsOf(track.config);
    this.#waitsForKeyframe = true;
  }

  cut(): void {}

  sample({ isIndependent, time, data }: Sample): void {
    this.#soundUntil(time);
    if (this.#waitsForKeyframe && !isIndependent) return;
    const bytes = pictureBytes(this.#parameterSets, isIndependent, data.bytes);
    this.#waitsForKeyframe = !this.#send({ kind: "video", isIndependent, time, data: bytes });
  }

  pause(): void {
    this.#soundUntil(Number.POSITIVE_INFINITY);
  }

  end(): void {}

  #soundUntil(time: number): void {
    let due = 0;
    for (const frame of this.#waiting) {
      if (frame.time > time) break;
      this.#send(frame);
      due++;
    }
    this.#waiting.splice(0, due);
  }

  #send(frame: MediaFrame): boolean {
    const isTaken = this.source.frame(frame);
    if (isTaken) this.#onSent(frame.data.length);
    return isTaken;
  }
}
