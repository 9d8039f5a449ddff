import { AudioConverter } from "./audio-converter.ts";
import type { AudioStart } from "./audio-protocol.ts";
import { FatalTranscodeError } from "./fatal-transcode-error.ts";
import type { FromChild, ToChild } from "./transcode-protocol.ts";

/** One audio track that is converted, in the child. */
export class AudioEngine {
  readonly #converter: AudioConverter;
  readonly #send: (message: FromChild) => void;

  private constructor(converter: AudioConverter, send: (message: FromChild) => void) {
    this.#converter = converter;
    this.#send = send;
  }

  /** Opens decoder and encoder and sends `audio-ready`. Throws `FatalTranscodeError`. */
  static async open({ source, target }: AudioStart, send: (message: FromChild) => void): Promise<AudioEngine> {
    const converter = await AudioConverter.open(source, target).catch((error: Error) => {
      throw new FatalTranscodeError("decode", `The source's audio cannot be converted: ${error.message}`, error);
    });
    send({ type: "audio-ready", config: Buffer.from(converter.config).toString("base64") });
    return new AudioEngine(converter, send);
  }

  /** One message at a time. Throws `FatalTranscodeError`. */
  async take(message: ToChild): Promise<void> {
    if (message.type !== "audio") throw new FatalTranscodeError("internal", `An audio child got "${message.type}"`);
    await this.#converter.convert(message.data, message.pts, ({ pts, data }) =>
      this.#send({ type: "audio", pts, data }),
    );
  }
}
