import { TICKS_PER_SECOND, type Track } from "../packet.ts";
import type { Sample, TimelineSink } from "../timeline/timeline-sink.ts";
import type { AttachOptions, Feed } from "./session-feed.ts";

/** 10 s of audio, far more than a ladder may lag. */
const MAX_HELD = 500;

/** A rung as its readers receive it: its pictures, and the sound of the source, which arrives earlier. */
export class RenditionFeed implements Feed {
  readonly #pictures: Feed;
  readonly #sound: Feed;

  constructor(pictures: Feed, sound: Feed) {
    this.#pictures = pictures;
    this.#sound = sound;
  }

  attach(sink: TimelineSink, options: AttachOptions): () => void {
    const joined = new PicturesWithSound(sink);
    const leaveSound = this.#sound.attach(joined.sound, { from: "now" });
    const leavePictures = this.#pictures.attach(joined.pictures, options);
    return () => {
      leaveSound();
      leavePictures();
      joined.close();
    };
  }
}

/** Holds the sound back until the picture of the same time exists. It has a share of each frame until then. */
class PicturesWithSound {
  readonly #sink: TimelineSink;
  #video: readonly Track[] = [];
  #audio: readonly Track[] = [];
  #held: { readonly ticks: number; readonly sample: Sample }[] = [];
  readonly #rates: number[] = [];

  constructor(sink: TimelineSink) {
    this.#sink = sink;
  }

  readonly pictures: TimelineSink = {
    stretch: (tracks) => {
      this.#video = tracks;
      this.#begin();
    },
    cut() {},
    sample: (sample) => {
      this.#soundUntil(sample.decodeTime);
      this.#sink.sample(sample);
    },
    pause: (ticks) => {
      this.#soundUntil(Number.POSITIVE_INFINITY);
      this.#sink.pause(ticks);
    },
    end: () => this.#sink.end(),
  };

  readonly sound: TimelineSink = {
    stretch: (tracks) => {
      this.#audio = tracks.filter(({ kind }) => kind === "audio");
      for (const track of this.#audio) if (track.kind === "audio") this.#rates[track.id] = track.sampleRate;
      this.#begin();
    },
    cut() {},
    sample: (sample) => {
      if (sample.kind !== "audio") return;
      sample.data.retain();
      const ticks = (sample.time * TICKS_PER_SECOND) / (this.#rates[sample.trackId] ?? 1);
      this.#held.push({ ticks, sample });
      if (this.#held.length > MAX_HELD) this.#held.shift()?.sample.data.release();
    },
    pause() {},
    end() {},
  };

  close(): void {
    for (const { sample } of this.#held.splice(0)) sample.data.release();
  }

  /** A stretch starts only when there is video. */
  #begin(): void {
    if (this.#video.length > 0) this.#sink.stretch([...this.#video, ...this.#audio]);
  }

  #soundUntil(ticks: number): void {
    const later = this.#held.findIndex((held) => held.ticks > ticks);
    for (const { sample } of this.#held.splice(0, later < 0 ? this.#held.length : later)) {
      this.#sink.sample(sample);
      sample.data.release();
    }
  }
}
