import { FatalTranscodeError } from "./fatal-transcode-error.ts";
import { makeStill } from "./still-encoder.ts";
import type { FromChild, ToChild } from "./transcode-protocol.ts";

const NOTHING = new Uint8Array();

/** Makes images of keyframes, in the child. A keyframe that cannot be decoded gives an empty one. */
export class StillEngine {
  readonly #send: (message: FromChild) => void;

  constructor(send: (message: FromChild) => void) {
    this.#send = send;
  }

  /** One message at a time. Throws `FatalTranscodeError`. */
  async take(message: ToChild): Promise<void> {
    if (message.type !== "still") throw new FatalTranscodeError("internal", `A child for stills got "${message.type}"`);
    const { job, data } = message;
    const image = await makeStill(job, data).catch(() => null);
    this.#send({ type: "still", id: job.id, data: image ?? NOTHING });
  }
}
