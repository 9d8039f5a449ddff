import { fstatSync, readSync } from "node:fs";
import {
  AV_DISPOSITION_ATTACHED_PIC,
  AV_NOPTS_VALUE,
  AVDISCARD_ALL,
  AVERROR_EOF,
  AVMEDIA_TYPE_AUDIO,
  AVMEDIA_TYPE_VIDEO,
  type AVMediaType,
  AVSEEK_FLAG_BACKWARD,
} from "node-av/constants";
import { avGetCodecName, Dictionary, FFmpegError, FormatContext, type Packet, type Stream } from "node-av/lib";
import { TICKS_PER_SECOND } from "../packet.ts";
import { FileRefused } from "./refusal.ts";

/** FFmpeg demuxers of self-contained files. Excluded are all that open URLs or other files: HLS, DASH, concat, image sequences. */
const FORMATS = [
  ...["mov", "mp4", "m4a", "3gp", "3g2", "mj2", "matroska", "webm", "mpegts", "mpeg", "avi", "flv"],
  ...["mp3", "aac", "wav", "w64", "ogg", "flac", "aiff"],
].join();
const FORMAT_NAMES = "MP4, MOV, MKV, WebM, MPEG-TS, AVI, FLV, MP3, AAC, WAV, FLAC or Ogg";

const VIDEO_CODECS = new Set([
  ...["h264", "hevc", "av1", "vp8", "vp9", "mpeg1video", "mpeg2video", "mpeg4", "msmpeg4v2", "msmpeg4v3"],
  ...["h263", "flv1", "mjpeg", "prores", "dnxhd", "theora"],
]);
const AUDIO_CODECS = new Set([
  ...["aac", "mp3", "mp2", "ac3", "eac3", "opus", "vorbis", "flac", "alac", "dts", "pcm_s16le", "pcm_s16be"],
  ...["pcm_s24le", "pcm_s24be", "pcm_s32le", "pcm_s32be", "pcm_f32le", "pcm_f32be", "pcm_f64le", "pcm_u8", "pcm_s8"],
  ...["pcm_mulaw", "pcm_alaw", "adpcm_ms", "adpcm_ima_wav", "adpcm_ima_qt", "amrnb", "amr_nb", "amr_wb", "wmav2"],
]);

/** More streams than any camera or editor writes; FFmpeg rejects files with more. */
const MAX_STREAMS = 1_000;
/** How much of the file FFmpeg probes for tracks that the header does not declare. */
const PROBE_BYTES = 16 * 1024 * 1024;
const PROBE_MICROSECONDS = 10_000_000;
/** The largest picture that FFmpeg may allocate: 8K. */
export const MAX_PIXELS = 8192 * 4320;

/** The video or audio track that is read. */
export interface SourceTrack {
  readonly stream: Stream;
  readonly index: number;
  readonly codec: string;
}

/**
 * A file opened by FFmpeg from a descriptor. FFmpeg can reach no other file: the only allowed protocol reads descriptors, and this process has no
 * other file open.
 */
export class SourceFile {
  readonly format: FormatContext;
  readonly video: SourceTrack | null;
  readonly audio: SourceTrack | null;

  private constructor(format: FormatContext, video: SourceTrack | null, audio: SourceTrack | null) {
    this.format = format;
    this.video = video;
    this.audio = audio;
  }

  /** Throws `FileRefused`. */
  static async open(descriptor: number): Promise<SourceFile> {
    const format = new FormatContext();
    const options = Dictionary.fromObject({
      fd: String(descriptor),
      protocol_whitelist: "fd",
      format_whitelist: FORMATS,
      probesize: String(PROBE_BYTES),
      analyzeduration: String(PROBE_MICROSECONDS),
      max_streams: String(MAX_STREAMS),
    });
    if ((await format.openInput("fd:", null, options)) < 0) {
      requireReadable(descriptor);
      throw new FileRefused(
        `This file contains no readable video or audio: it is damaged, truncated or of an unsupported format. Upload ${FORMAT_NAMES}, or export it again.`,
      );
    }
    const found = await format.findStreamInfo(null);
    if (found < 0) {
      requireReadable(descriptor);
      throw new FileRefused(
        `The tracks of this file cannot be read (${new FFmpegError(found).message}). Export it again as MP4 (H.264, AAC).`,
      );
    }
    const video = pick(format, AVMEDIA_TYPE_VIDEO, VIDEO_CODECS);
    const audio = pick(format, AVMEDIA_TYPE_AUDIO, AUDIO_CODECS);
    if (!video && !audio)
      throw new FileRefused("This file has neither a video nor an audio track. Upload a file with one.");
    for (const stream of format.streams)
      if (stream.index !== video?.index && stream.index !== audio?.index) stream.discard = AVDISCARD_ALL;
    return new SourceFile(format, video, audio);
  }

  /** Returns the track of the next packet. Null at the end of the file, or if it is unreadable from here. The caller must unref the packet. */
  read(packet: Packet): SourceTrack | "other" | null {
    const result = this.format.readFrameSync(packet);
    if (result < 0) {
      // The end of what the disk can read is not the end of the file.
      const error = this.format.pb?.error ?? 0;
      if (error < 0 && error !== AVERROR_EOF)
        throw new Error(`cannot read the file: ${new FFmpegError(error).message}`);
      return null;
    }
    if (packet.streamIndex === this.video?.index) return this.video;
    if (packet.streamIndex === this.audio?.index) return this.audio;
    return "other";
  }

  /** Seeks to the last video keyframe at or before a time in the file, in ticks. */
  seek(ticks: number): void {
    if (!this.video) return;
    const { num, den } = this.video.stream.timeBase;
    const at = BigInt(Math.round((ticks * den) / (num * TICKS_PER_SECOND)));
    this.format.seekFrameSync(this.video.index, at, AVSEEK_FLAG_BACKWARD);
  }

  async close(): Promise<void> {
    await this.format.closeInput();
  }
}

/** Throws if the disk cannot read the beginning or the end of the file: then nothing is known about its content. */
function requireReadable(descriptor: number): void {
  const piece = Buffer.alloc(1024 * 1024);
  const { size } = fstatSync(descriptor);
  for (const from of [0, Math.max(0, size - PROBE_BYTES)])
    for (let at = from; at < from + PROBE_BYTES; at += piece.byteLength)
      if (readSync(descriptor, piece, 0, piece.byteLength, at) === 0) break;
}

/** Converts to 90 kHz ticks of the file's own clock; null for a missing timestamp. */
export function ticksOf(time: bigint, { timeBase: { num, den } }: Stream): number | null {
  return time === AV_NOPTS_VALUE ? null : Math.round((Number(time) * num * TICKS_PER_SECOND) / den);
}

function pick(format: FormatContext, kind: AVMediaType, codecs: ReadonlySet<string>): SourceTrack | null {
  const index = format.findBestStream(kind);
  const stream = index < 0 ? undefined : format.streams[index];
  // An audio file's cover art is a picture stream, but not video.
  if (!stream || stream.hasDisposition(AV_DISPOSITION_ATTACHED_PIC)) return null;
  const codec = avGetCodecName(stream.codecpar.codecId) ?? "unknown";
  if (codecs.has(codec)) return { stream, index, codec };
  const [what, wanted] = kind === AVMEDIA_TYPE_VIDEO ? ["video", "H.264"] : ["audio", "AAC"];
  throw new FileRefused(
    `The ${what} of this file uses the codec ${codec}, which Weir does not support. Export it as MP4 with ${wanted}.`,
  );
}
