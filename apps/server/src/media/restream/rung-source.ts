import { HeldAudio } from "../feed/held-audio.ts";
import type { FeedSink, SessionFeed } from "../feed/session-feed.ts";
import { TICKS_PER_SECOND, type Track } from "../packet.ts";
import type { Sample } from "../timeline/timeline-sink.ts";
import type { RenditionSource } from "./broadcast-lines.ts";

/** A rung as targets receive it: its video with the audio of the source, which arrives earlier. */
export class RungSource implements RenditionSource {
  readonly #rung: Pick<SessionFeed, "attach">;
  readonly #source: Pick<SessionFeed, "attach">;

  constructor(rung: Pick<SessionFeed, "attach">, source: Pick<SessionFeed, "attach">) {
    this.#rung = rung;
    this.#source = source;
  }

  attach(sink: FeedSink): () => void {
    const joined = new RungWithSound(sink);
    const leaveSource = this.#source.attach(joined.sound, { from: "now" });
    const leaveRung = this.#rung.attach(joined.pictures, { from: "keyframe" });
    return () => {
      leaveSource();
      leaveRung();
      joined.close();
    };
  }
}

class RungWithSound {
  readonly #sink: FeedSink;
  #video: readonly Track[] = [];
  #audio: readonly Track[] = [];
  readonly #held = new HeldAudio<Sample>();
  readonly #rates: number[] = [];

  constructor(sink: FeedSink) {
    this.#sink = sink;
  }

  readonly pictures: FeedSink = {
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

  readonly sound: FeedSink = {
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
      this.#held.add(ticks, sample)?.data.release();
    },
    pause() {},
    end() {},
  };

  close(): void {
    for (const { data } of this.#held.takeUntil(Number.POSITIVE_INFINITY)) data.release();
  }

  /** A stretch starts only when there is video. */
  #begin(): void {
    if (this.#video.length > 0) this.#sink.stretch([...this.#video, ...this.#audio]);
  }

  #soundUntil(ticks: number): void {
    for (const sample of this.#held.takeUntil(ticks)) {
      this.#sink.sample(sample);
      sample.data.release();
    }
  }
}
