/** Marks of all connections are looked at so often: nothing that has come waits longer than two looks. */
export const LOOK_MS = 100;
/** How long the smallest frame is looked for before it counts: a group of pictures of most encoders. */
const LOOKS = 20;
/** More would spare no read: it is longer than the sound between two frames. */
const MAX_FRAME_BYTES = 4096;
/** With frames as short as a packet of sound there is nothing to gain. */
const MIN_FRAME_BYTES = 512;
/** Of the rest of a message. Little beside the least window of TCP, so that the sender is not slowed down. */
const MAX_REST_BYTES = 16 * 1024;

/**
 * How many bytes have to come until a publisher's connection is read, so that it is read for each frame of video and not for each packet of
 * sound. Sound waits for the next frame in the timeline anyway. No frame waits: between two messages the mark is the smallest frame of late,
 * and within a message it is what is left of it.
 *
 * It is 1, so that every byte is read as it comes, until video has come for two seconds without a pause, and again as soon as none
 * came from one look to the next.
 */
export class ReadMark {
  readonly #set: (bytes: number) => void;
  /** As it is set. */
  #bytes = 1;
  /** Between two messages. */
  #frameBytes = 1;
  #smallest = Number.POSITIVE_INFINITY;
  #frames = 0;
  #looks = 0;

  constructor(set: (bytes: number) => void) {
    this.#set = set;
  }

  /** A frame came, in a message of so many bytes. */
  frame(bytes: number): void {
    this.#frames++;
    if (bytes < this.#smallest) this.#smallest = bytes;
    if (bytes < this.#frameBytes) this.#frameBytes = atLeast(bytes);
  }

  /** All that came is read; `missing` bytes are left of the message that is being received. */
  read(missing: number): void {
    const isWithin = missing > 0 && this.#frameBytes > 1;
    this.#become(isWithin ? Math.min(missing, MAX_REST_BYTES) : this.#frameBytes);
  }

  /** To be called every 100 ms. */
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
