/** Interval of `look`: received bytes wait for at most two intervals. */
export const LOOK_MS = 100;
/** Number of intervals observed for the smallest frame: one GOP of most encoders. */
const LOOKS = 20;
/** A larger mark would save no reads: it exceeds the audio between two frames. */
const MAX_FRAME_BYTES = 4096;
/** If frames are as small as audio packets there is nothing to gain. */
const MIN_FRAME_BYTES = 512;
/** Limit within a message; small compared with the minimum TCP window, so that the sender is not slowed down. */
const MAX_REST_BYTES = 16 * 1024;

/**
 * Determines how many bytes must arrive before a publisher's socket becomes readable (SO_RCVLOWAT), so that it is read once per video frame rather
 * than once per audio packet; audio waits for the next frame in the timeline anyway. No frame waits: between messages the mark is the size of the
 * smallest recent frame, within a message it is the rest of the message.
 *
 * The mark is 1, so that every byte is read immediately, until video has arrived for two seconds without a pause, and again after an interval
 * without a frame.
 */
export class ReadMark {
  readonly #set: (bytes: number) => void;
  /** The mark as set on the socket. */
  #bytes = 1;
  /** The mark between messages. */
  #frameBytes = 1;
  #smallest = Number.POSITIVE_INFINITY;
  #frames = 0;
  #looks = 0;

  constructor(set: (bytes: number) => void) {
    this.#set = set;
  }

  /** A frame arrived in a message of this size. */
  frame(bytes: number): void {
    this.#frames++;
    if (bytes < this.#smallest) this.#smallest = bytes;
    if (bytes < this.#frameBytes) this.#frameBytes = atLeast(bytes);
  }

  /** All received bytes were read; `missing` bytes of the current message are left. */
  read(missing: number): void {
    const isWithin = missing > 0 && this.#frameBytes > 1;
    this.#become(isWithin ? Math.min(missing, MAX_REST_BYTES) : this.#frameBytes);
  }

  /** Call every 100 ms. */
  look(): void {
    if (this.#frames === 0) return this.#reset();
    this.#frames = 0;
    if (++this.#looks < LOOKS) return;
    this.#frameBytes = atLeast(Math.min(this.#smallest, MAX_FRAME_BYTES));
    this.#smallest = Number.POSITIVE_INFINITY;
    this.#looks = 0;
  }

  #reset(): void {
    this.#frameBytes = 1;
    this.#smallest = Number.POSITIVE_INFINITY;
    this.#looks = 0;
    this.#become(1);
  }

  #become(bytes: number): void {
    if (bytes === this.#bytes) return;
    this.#bytes = bytes;
    this.#set(bytes);
  }
}

function atLeast(bytes: number): number {
  return bytes < MIN_FRAME_BYTES ? 1 : bytes;
}
