import type { Feed } from "../../feed/session-feed.ts";
import { TICKS_PER_SECOND, type Track, type VideoTrack } from "../../packet.ts";
import type { Sample, TimelineSink } from "../../timeline/timeline-sink.ts";
import type { PeerSource } from "../../webrtc/webrtc-process.ts";
import type { MediaFrame } from "../../webrtc/webrtc-protocol.ts";
import { parameterSetsOf, pictureBytes } from "./picture-bytes.ts";

/**
 * A rung of the session's ladder with the session's Opus, for viewers whose network cannot carry the source. They synchronize media by arrival, so
 * the feed must bring sound with the pictures of the same time.
 */
export class WhepRung implements TimelineSink {
  readonly source: PeerSource;
  readonly #onSent: (bytes: number) => void;
  readonly #detach: () => void;
  #video: VideoTrack | null = null;
  #parameterSets: Uint8Array = new Uint8Array();
  #soundRate = TICKS_PER_SECOND;
  #waitsForKeyframe = true;

  constructor(rung: Feed, source: PeerSource, onSent: (bytes: number) => void) {
    this.source = source;
    this.#onSent = onSent;
    this.#detach = rung.attach(this, { from: "keyframe" });
  }

  close(): void {
    this.#detach();
    this.source.close();
  }

  /** The tracks of the sound may change while pictures of before are still to come. */
  stretch(tracks: readonly Track[]): void {
    for (const track of tracks) {
      if (track.kind === "audio") this.#soundRate = track.sampleRate;
      else if (track !== this.#video) {
        this.#video = track;
        this.#parameterSets = parameterSetsOf(track.config);
        this.#waitsForKeyframe = true;
      }
    }
  }

  cut(): void {}

  sample({ kind, isIndependent, time, data: { bytes } }: Sample): void {
    if (kind === "audio")
      return void this.#send({ kind, isIndependent, time: (time * TICKS_PER_SECOND) / this.#soundRate, data: bytes });
    if (this.#waitsForKeyframe && !isIndependent) return;
    const data = pictureBytes(this.#parameterSets, isIndependent, bytes);
    this.#waitsForKeyframe = !this.#send({ kind, isIndependent, time, data });
  }

  pause(): void {}

  end(): void {}

  #send(frame: MediaFrame): boolean {
    const isTaken = this.source.frame(frame);
    if (isTaken) this.#onSent(frame.data.length);
    return isTaken;
  }
}
