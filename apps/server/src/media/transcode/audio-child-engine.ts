import { AudioConverter } from "./audio-converter.ts";
import { FatalTranscodeError, unexpected } from "./fatal-transcode-error.ts";
import type { AudioStart, Engine, Send } from "./transcode-protocol.ts";

/** One audio track that is converted, in the child. Throws `FatalTranscodeError`. */
export async function openAudioEngine({ source, target }: AudioStart, send: Send): Promise<Engine> {
  const converter = await AudioConverter.open(source, target).catch((error: Error) => {
    throw new FatalTranscodeError("decode", `The source's audio cannot be converted: ${error.message}`, error);
  });
  return async (message) => {
    if (message.type !== "audio") throw unexpected(message);
    for (const converted of converter.convert(message.data, message.pts)) send({ type: "audio", ...converted });
  };
}
