import { type SourcePacket, TICKS_PER_SECOND } from "../../packet.ts";

/** A frame that is further from all tracks does not belong to their clock; nor is a picture shown so long before or after it is decoded. */
const NEAR_TICKS = 5 * TICKS_PER_SECOND;
/** So many frames in a row that agree with each other and not with those before are a new clock. */
const LASTING_FRAMES = 3;

interface TrackClock {
  /** Decoding time of its newest frame, as it was passed on. */
  last: number;
  /** From its last frame but one to its last, where that was believable. */
  step: number;
  /** From decoding to presentation of its last frame that was right. */
  composition: number;
  /** Its frames since the last one that was right, as far as they agree: how many, and the newest one's decoding time. */
  strayed: number;
  strayedAt: number;
}

export type FrameTimes = Pick<SourcePacket, "trackId" | "dts" | "pts">;

/**
 * The clock of a source that nobody can restart, as a camera's. A frame more than five seconds away from all tracks gets the time at which its track
 * expects it. At the third such frame in a row the clock is a new one: that and those after it are passed on as they are, and the timeline begins a
 * stretch. Times are 90 kHz ticks.
 */
export class RepairedClock {
  /** By track id. */
  readonly #tracks: (TrackClock | undefined)[] = [];
  #repairs = 0;

  /** Frames whose times were replaced. */
  get repairs(): number {
    return this.#repairs;
  }

  /** The frame at the times where it belongs; the same one if it is there. */
  repaired<Frame extends FrameTimes>(frame: Frame): Frame {
    const { trackId, dts } = frame;
    const track = this.#tracks[trackId];
    if (!track) {
      this.#tracks[trackId] = { last: dts, step: 0, composition: 0, strayed: 0, strayedAt: 0 };
      return this.#presented(frame, dts);
    }
    if (this.#isNear(dts) || this.#lasts(track, dts)) {
      const step = dts - track.last;
      if (step > 0 && step <= NEAR_TICKS) track.step = step;
      track.last = dts;
      track.strayed = 0;
      return this.#presented(frame, dts);
    }
    track.last += track.step;
    return this.#presented(frame, track.last);
  }

  #isNear(dts: number): boolean {
    return this.#tracks.some((track) => track && Math.abs(dts - track.last) <= NEAR_TICKS);
  }

  #lasts(track: TrackClock, dts: number): boolean {
    const agrees = track.strayed > 0 && Math.abs(dts - track.strayedAt) <= NEAR_TICKS;
    track.strayed = agrees ? track.strayed + 1 : 1;
    track.strayedAt = dts;
    return track.strayed >= LASTING_FRAMES;
  }

  #presented<Frame extends FrameTimes>(frame: Frame, dts: number): Frame {
    const track = this.#tracks[frame.trackId];
    const reorder = frame.pts - frame.dts;
    const isReorder = Math.abs(reorder) <= NEAR_TICKS;
    if (track && isReorder) track.composition = reorder;
    if (isReorder && frame.dts === dts) return frame;
    this.#repairs++;
    return { ...frame, dts, pts: dts + (track?.composition ?? 0) };
  }
}
