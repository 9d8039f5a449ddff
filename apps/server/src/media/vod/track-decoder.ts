import { FF_DECODER_LIBDAV1D } from "node-av/constants";
import { Codec, CodecContext, Dictionary } from "node-av/lib";
import { check } from "../transcode/ffmpeg.ts";
import { FileRefused } from "./refusal.ts";
import { MAX_PIXELS, type SourceTrack } from "./source-file.ts";

const KINDS = {
  // FFmpeg decodes in its own threads while the encoders run.
  video: { advised: "H.264", threads: 2 },
  audio: { advised: "AAC", threads: 1 },
} as const;

/** A decoder for a track of a file. Throws `FileRefused`. */
export async function openTrackDecoder(
  { stream: { codecpar, timeBase }, codec: name }: SourceTrack,
  kind: keyof typeof KINDS,
): Promise<CodecContext> {
  const { advised, threads } = KINDS[kind];
  // FFmpeg's built-in AV1 decoder requires hardware.
  const codec = (name === "av1" && Codec.findDecoderByName(FF_DECODER_LIBDAV1D)) || Codec.findDecoder(codecpar.codecId);
  if (!codec)
    throw new FileRefused(
      `This build of FFmpeg has no decoder for the file's ${kind} (${name}). Export it with ${advised}.`,
    );
  const context = new CodecContext();
  context.allocContext3(codec);
  check(codecpar.toContext(context), `cannot configure the ${kind} decoder`);
  context.pktTimebase = timeBase;
  context.threadCount = threads;
  if ((await context.open2(codec, Dictionary.fromObject({ max_pixels: String(MAX_PIXELS) }))) < 0)
    throw new FileRefused(`The ${kind} of this file (${name}) cannot be decoded. Export it again with ${advised}.`);
  return context;
}
