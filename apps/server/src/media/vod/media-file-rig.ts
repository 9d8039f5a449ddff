/** For tests: generates media files of every kind. */
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  AV_CODEC_ID_SUBRIP,
  AV_PKT_DATA_DISPLAYMATRIX,
  AVMEDIA_TYPE_SUBTITLE,
  AVMEDIA_TYPE_VIDEO,
} from "node-av/constants";
import { type CodecContext, Dictionary, FormatContext, type Packet, type Stream } from "node-av/lib";
import { makeTestFolder } from "../../platform/test-folder-rig.ts";
import { check } from "../transcode/ffmpeg.ts";
import {
  encodeAudio,
  encodeVideo,
  type MadeAudio,
  type MadeVideo,
  openAudio,
  openVideo,
  RATE,
} from "./media-track-rig.ts";

export interface FileOptions {
  /** FFmpeg's name of the muxer. */
  readonly format: string;
  readonly video?: MadeVideo;
  readonly audio?: MadeAudio;
  /** Number of additional empty tracks. */
  readonly emptyTracks?: number;
  /** Languages of additional empty tracks, by what they hold. */
  readonly languages?: { readonly audio?: readonly string[]; readonly captions?: readonly string[] };
  readonly muxer?: Record<string, string>;
  readonly metadata?: Record<string, string>;
}

/** Writes the file to a folder of its own. */
export async function makeFile(options: FileOptions): Promise<{ path: string } & AsyncDisposable> {
  const folder = makeTestFolder("vod");
  const path = join(folder, "file");
  const remove = () => rm(folder, { recursive: true, force: true });
  await writeMedia(path, options);
  return { path, [Symbol.asyncDispose]: remove };
}

export async function fileOf(bytes: string | Uint8Array): Promise<{ path: string } & AsyncDisposable> {
  const folder = makeTestFolder("vod");
  const path = join(folder, "file");
  await writeFile(path, bytes);
  return { path, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

async function writeMedia(
  path: string,
  { format: name, video, audio, emptyTracks = 0, languages, muxer = {}, metadata }: FileOptions,
): Promise<void> {
  const format = new FormatContext();
  check(format.allocOutputContext2(null, name, path), "no muxer");
  const tracks: { encoder: CodecContext; stream: Stream; packets: () => AsyncGenerator<Packet> }[] = [];
  if (video) {
    const encoder = await openVideo(video);
    const stream = addStream(format, encoder);
    if (video.turn) stream.codecpar.addCodedSideData(AV_PKT_DATA_DISPLAYMATRIX, displayMatrix(video.turn));
    tracks.push({ encoder, stream, packets: () => encodeVideo(encoder, video) });
  }
  if (audio) {
    const encoder = await openAudio(audio);
    tracks.push({ encoder, stream: addStream(format, encoder), packets: () => encodeAudio(encoder, audio) });
    for (let n = 0; n < emptyTracks; n++) addStream(format, encoder);
    for (const language of languages?.audio ?? [])
      addStream(format, encoder).metadata = Dictionary.fromObject({ language });
  }
  for (const language of languages?.captions ?? []) {
    const stream = format.newStream();
    stream.codecpar.codecType = AVMEDIA_TYPE_SUBTITLE;
    stream.codecpar.codecId = AV_CODEC_ID_SUBRIP;
    stream.metadata = Dictionary.fromObject({ language });
  }
  if (metadata) format.metadata = Dictionary.fromObject(metadata);
  check(await format.openOutput(), "cannot write a file");
  check(await format.writeHeader(Dictionary.fromObject(muxer)), "cannot begin a file");
  const all: { packet: Packet; seconds: number }[] = [];
  for (const { encoder, stream, packets } of tracks) {
    for await (const packet of packets()) {
      if (encoder.codecType === AVMEDIA_TYPE_VIDEO)
        packet.duration = BigInt(Math.round(encoder.timeBase.den / (encoder.timeBase.num * RATE)));
      packet.rescaleTs(encoder.timeBase, stream.timeBase);
      packet.streamIndex = stream.index;
      const seconds = (Number(packet.dts) * stream.timeBase.num) / stream.timeBase.den;
      all.push({ packet, seconds });
    }
  }
  for (const { packet } of all.toSorted((a, b) => a.seconds - b.seconds)) {
    check(await format.writeFrame(packet), "cannot write a packet");
    packet.free();
  }
  check(await format.writeTrailer(), "cannot end a file");
  await format.closeOutput();
  for (const { encoder } of tracks) encoder.freeContext();
  format.freeContext();
}

function addStream(format: FormatContext, encoder: CodecContext): Stream {
  const stream = format.newStream();
  check(stream.codecpar.fromContext(encoder), "cannot describe a track");
  stream.timeBase = encoder.timeBase;
  return stream;
}

/** ISO/IEC 14496-12 6.2.2, in native byte order. */
function displayMatrix(turn: 90 | 180 | 270): Buffer {
  const [a, b, c, d] = { 90: [0, 1, -1, 0], 180: [-1, 0, 0, -1], 270: [0, -1, 1, 0] }[turn] as [
    number,
    number,
    number,
    number,
  ];
  const matrix = Buffer.alloc(36);
  for (const [n, value] of [a, b, 0, c, d, 0, 0, 0, 16_384].entries()) matrix.writeInt32LE(value * 65_536, n * 4);
  return matrix;
}
