import { HeldAudio } from "../../feed/held-audio.ts";
import type { FeedSink } from "../../feed/session-feed.ts";
import type { Track } from "../../packet.ts";
import type { Sample } from "../../timeline/timeline-sink.ts";
import type { PeerSource } from "../../webrtc/webrtc-process.ts";
import type { MediaFrame } from "../../webrtc/webrtc-protocol.ts";
import { parameterSetsOf, pictureBytes } from "./picture-bytes.ts";
import type { WatchableRung } from "./whep-session.ts";

/**
 * A rung of the session's ladder, for viewers whose network cannot carry the source. Its audio is the source's, held back until the video of the
 * same time exists, because a viewer synchronizes media by arrival.
 */
export class WhepRung implements FeedSink {
  readonly source: PeerSource;
  readonly #onSent: (bytes: number) => void;
  readonly #detach: () => void;
  #parameterSets: Uint8Array = new Uint8Array();
  readonly #held = new HeldAudio<MediaFrame>();
  #waitsForKeyframe = true;

  constructor(rung: WatchableRung, source: PeerSource, onSent: (bytes: number) => void) {
    this.source = source;
    this.#onSent = onSent;
    this.#detach = rung.feed.attach(this, { from: "keyframe" });
  }

  /** Adds an audio frame of the source. */
  sound(frame: MediaFrame): void {
    this.#held.add(frame.time, frame);
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
    for (const frame of this.#held.takeUntil(time)) this.#send(frame);
  }

  #send(frame: MediaFrame): boolean {
    const isTaken = this.source.frame(frame);
    if (isTaken) this.#onSent(frame.data.length);
    return isTaken;
  }
}
