import { FatalTranscodeError } from "./fatal-transcode-error.ts";
import { makeSheet, makeStill } from "./still-encoder.ts";
import type { FromChild, ToChild } from "./transcode-protocol.ts";

const NOTHING = new Uint8Array();

/** Makes images of keyframes, and sheets of tiles, in the child. A keyframe that cannot be decoded gives an empty image. */
export class StillEngine {
  readonly #send: (message: FromChild) => void;

  constructor(send: (message: FromChild) => void) {
    this.#send = send;
  }

  /** One message at a time. Throws `FatalTranscodeError`. */
  async take(message: ToChild): Promise<void> {
    const image = await this.#make(message).catch((error: unknown) => {
      if (error instanceof FatalTranscodeError) throw error;
      return null;
    });
    if (message.type === "still" || message.type === "sheet")
      this.#send({ type: "still", id: message.job.id, data: image ?? NOTHING });
  }

  async #make(message: ToChild): Promise<Uint8Array | null> {
    if (message.type === "still") return makeStill(message.job, message.data);
    if (message.type === "sheet") return makeSheet(message.job, message.data);
    throw new FatalTranscodeError("internal", `A child for stills got "${message.type}"`);
  }
}
