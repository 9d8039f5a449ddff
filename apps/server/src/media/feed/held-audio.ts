/** 10 s of audio, far more than a ladder may lag. */
const MAX_FRAMES = 500;

/** The audio of a source, held back until the video of the same time, which a ladder is still making, exists. */
export class HeldAudio<Frame> {
  #frames: { readonly ticks: number; readonly frame: Frame }[] = [];

  /** `ticks`: its time, in 90 kHz ticks. Returns the oldest frame if too many are held; nobody gets that one. */
  add(ticks: number, frame: Frame): Frame | undefined {
    this.#frames.push({ ticks, frame });
    return this.#frames.length > MAX_FRAMES ? this.#frames.shift()?.frame : undefined;
  }

  /** The frames up to `ticks`, which are no longer held. */
  takeUntil(ticks: number): Frame[] {
    const later = this.#frames.findIndex((held) => held.ticks > ticks);
    const due = this.#frames.splice(0, later < 0 ? this.#frames.length : later);
    return due.map(({ frame }) => frame);
  }
}
