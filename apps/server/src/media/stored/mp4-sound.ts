import { buffer } from "node:stream/consumers";
import { type FragmentSample, readSamples, writeAudioFragment } from "@weir/formats/mp4";
import { type Placed, roomBehind, type Sound } from "./mp4-layout.ts";

/** Maximum overhead per frame. */
const ROW_BYTES = 8;

interface Frames {
  readonly of: Placed;
  readonly frames: readonly FragmentSample[];
}

/** Reads the audio of consecutive pieces, each segment only once although its last frames are in the next piece. */
export class SoundReader {
  readonly #read: (placed: Placed) => AsyncIterable<Uint8Array>;
  #last: Frames | null = null;

  constructor(read: (placed: Placed) => AsyncIterable<Uint8Array>) {
    this.#read = read;
  }

  /** The audio of a piece as one fragment. */
  async read(sound: Sound): Promise<Uint8Array> {
    const { own, before } = sound;
    const carried = before ? late(await this.#framesOf(before.own), before) : [];
    const frames = await this.#framesOf(own);
    const kept = frames.slice(0, frames.length - late(frames, sound).length);
    return Buffer.concat(writeAudioFragment(own.sequence, [...carried, ...kept]));
  }

  async #framesOf(placed: Placed): Promise<readonly FragmentSample[]> {
    if (this.#last?.of === placed) return this.#last.frames;
    const frames = readSamples(await buffer(this.#read(placed)));
    this.#last = { of: placed, frames };
    return frames;
  }
}

/** The frames moved to the next piece; none if they do not fit there. */
function late(frames: readonly FragmentSample[], { own, untilTicks, timescale }: Sound): readonly FragmentSample[] {
  if (untilTicks === null) return [];
  const found = frames.filter(({ time, duration }) => time + duration > untilTicks);
  const bytes = found.reduce((sum, { data }) => sum + data.byteLength + ROW_BYTES, 0);
  return bytes <= roomBehind(own.segment, timescale) ? found : [];
}
