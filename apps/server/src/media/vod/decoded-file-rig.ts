/** For tests: decodes the pictures and audio of a made file. */
import { AV_NOPTS_VALUE } from "node-av/constants";
import { Codec, CodecContext, FormatContext, Frame, Packet } from "node-av/lib";
import { check } from "../transcode/ffmpeg.ts";
import { type ReadPicture, readPicture } from "./drawn-picture-rig.ts";
import { fileOf } from "./media-file-rig.ts";

export interface DecodedPicture extends ReadPicture {
  readonly seconds: number;
  readonly width: number;
  readonly height: number;
}

/** Decodes the pictures of an MP4 (8 bits, 4:2:0). */
export async function decodePictures(bytes: Uint8Array): Promise<DecodedPicture[]> {
  const pictures: DecodedPicture[] = [];
  await decode(bytes, (frame, seconds) => {
    pictures.push({ seconds, width: frame.width, height: frame.height, ...readPicture(frame) });
  });
  return pictures;
}

/** Duration, channels, sample rate and loudness (root mean square) of the audio. */
export async function decodeSound(
  bytes: Uint8Array,
): Promise<{ seconds: number; channels: number; rate: number; loudness: number }> {
  let [samples, channels, rate, squares] = [0, 0, 0, 0];
  await decode(bytes, (frame) => {
    samples += frame.nbSamples;
    channels = frame.channels;
    rate = frame.sampleRate;
    const plane = frame.data?.[0];
    for (let n = 0; plane && n < frame.nbSamples; n++) squares += plane.readFloatLE(n * 4) ** 2;
  });
  return { seconds: samples / Math.max(1, rate), channels, rate, loudness: Math.sqrt(squares / Math.max(1, samples)) };
}

async function decode(bytes: Uint8Array, onFrame: (frame: Frame, seconds: number) => void): Promise<void> {
  await using file = await fileOf(bytes);
  const format = new FormatContext();
  check(await format.openInput(file.path), "cannot open what was made");
  check(await format.findStreamInfo(null), "cannot read what was made");
  const [stream] = format.streams;
  if (!stream) throw new Error("no track");
  const codec = Codec.findDecoder(stream.codecpar.codecId);
  const context = new CodecContext();
  context.allocContext3(codec);
  check(stream.codecpar.toContext(context), "cannot decode");
  context.pktTimebase = stream.timeBase;
  check(await context.open2(codec), "cannot decode");
  const [packet, frame] = [new Packet(), new Frame()];
  packet.alloc();
  frame.alloc();
  const take = async (next: Packet | null): Promise<void> => {
    check(await context.sendPacket(next), "what was made is damaged");
    while ((await context.receiveFrame(frame)) >= 0) {
      const { pts, bestEffortTimestamp } = frame;
      const time = pts === AV_NOPTS_VALUE ? bestEffortTimestamp : pts;
      onFrame(frame, (Number(time) * stream.timeBase.num) / stream.timeBase.den);
      frame.unref();
    }
  };
  while ((await format.readFrame(packet)) >= 0) {
    if (packet.streamIndex === stream.index) await take(packet);
    packet.unref();
  }
  await take(null);
  context.freeContext();
  await format.closeInput();
}
