import { type AudioTrack, TICKS_PER_SECOND, type Track } from "../packet.ts";
import { HeldAudio } from "./held-audio.ts";
import type { Sample } from "./timeline-sink.ts";

const AUDIO_LOST_TICKS = TICKS_PER_SECOND;

export interface StretchAudioSettings {
  /** False while no video comes: then the leading audio track cuts. */
  readonly cutsByVideo: () => boolean;
  readonly wantsCut: (ticks: number) => boolean;
  readonly cut: (ticks: number) => void;
  readonly emit: (sample: Sample) => void;
}

/** A stretch as its audio needs it. */
interface AudioStart {
  readonly tracks: readonly Track[];
  /** The stretch continues the one before: so do the clocks of its audio. */
  readonly goesOn: boolean;
  readonly ticks: number;
  readonly offsetOf: (trackId: Track["id"]) => number;
  /** False for a track that the source does not announce. */
  readonly isSent: (trackId: Track["id"]) => boolean;
}

/**
 * The audio tracks of the newest stretch. Audio is never emitted ahead of the track that cuts, so that a cut is known before the audio after it. While
 * no video cuts, the first audio track does, and the others are emitted only up to its position.
 */
export class StretchAudio {
  readonly #settings: StretchAudioSettings;
  /** Ordered by id. */
  #lines: readonly HeldAudio[] = [];

  constructor(settings: StretchAudioSettings) {
    this.#settings = settings;
  }

  /** The source sends at least one of the tracks. */
  get isHeard(): boolean {
    return this.#lines.some(({ clock }) => !clock.isAbsent);
  }

  /** The audio track that cuts: the first that the source sends. Null while video cuts. */
  get leading(): HeldAudio | null {
    return this.#settings.cutsByVideo() ? null : this.#first;
  }

  lineOf(trackId: Track["id"]): HeldAudio | null {
    for (const line of this.#lines) if (line.clock.track.id === trackId) return line;
    return null;
  }

  /** The latest end of all tracks in 90 kHz ticks, at least `ticks`. */
  endTicks(ticks: number): number {
    return this.#lines.reduce((end, { clock }) => Math.max(end, clock.endTicks), ticks);
  }

  start({ tracks, goesOn, ticks, offsetOf, isSent }: AudioStart): void {
    const lineOf = (track: AudioTrack) => (goesOn ? this.lineOf(track.id) : null) ?? new HeldAudio(track);
    this.#lines = tracks.flatMap((track) => (track.kind === "audio" ? lineOf(track) : []));
    for (const { clock } of this.#lines) {
      clock.start(offsetOf(clock.track.id), ticks);
      if (!isSent(clock.track.id)) clock.lose();
    }
  }

  segmentBegan(): void {
    for (const { clock } of this.#lines) clock.segmentBegan();
  }

  /** The video has come to `ticks`: audio that is a second behind is away. */
  loseBehind(ticks: number): void {
    for (const { clock } of this.#lines) if (ticks - clock.endTicks >= AUDIO_LOST_TICKS) clock.lose();
  }

  /** Nothing comes on any track. */
  lose(): void {
    for (const { clock } of this.#lines) clock.lose();
  }

  /** Silence up to `ticks` where audio is away. */
  fillAbsent(ticks: number): void {
    for (const { clock } of this.#lines) if (clock.isAbsent) clock.fillTo(ticks);
  }

  /** Emits audio up to `limit` (90 kHz ticks). */
  release(limit: number): void {
    this.#release(this.leading, limit, this.#settings.wantsCut);
  }

  /** Emits audio up to `limit`, and cuts at its frames where `wantsCut`, also if video cuts: no picture comes up to there. */
  releaseInSegments(limit: number, wantsCut: (ticks: number) => boolean): void {
    this.#release(this.#first, limit, wantsCut);
  }

  /** Emits all audio: no cut can follow that would affect it. */
  flush(): void {
    this.release(Number.POSITIVE_INFINITY);
    this.#releaseFollowing(null, Number.POSITIVE_INFINITY);
  }

  /**
   * The stretch ends, its video at `videoEnd`. If one track ends before the other, no playlist would show the gap. Audio is filled with silence, and
   * packagers extend the last picture.
   */
  close(videoEnd: number): void {
    const { leading } = this;
    const end = leading?.clock.endTicks ?? videoEnd;
    for (const line of this.#lines) if (line !== leading) line.clock.fillPast(end);
    this.flush();
  }

  /** The first track that the source sends. */
  get #first(): HeldAudio | null {
    for (const line of this.#lines) if (!line.clock.isAbsent) return line;
    return this.#lines[0] ?? null;
  }

  #release(leading: HeldAudio | null, limit: number, wantsCut: (ticks: number) => boolean): void {
    const { cut, emit } = this.#settings;
    leading?.release(limit, (sample, ticks) => {
      if (wantsCut(ticks)) {
        this.#releaseFollowing(leading, ticks - 1);
        cut(ticks);
      }
      emit(sample);
    });
    this.#releaseFollowing(leading, leading ? Math.min(limit, leading.releasedTicks) : limit);
  }

  #releaseFollowing(leading: HeldAudio | null, limit: number): void {
    for (const line of this.#lines) if (line !== leading) line.release(limit, this.#settings.emit);
  }
}
