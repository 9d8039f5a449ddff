import {
  AV_PKT_DATA_DISPLAYMATRIX,
  AVMEDIA_TYPE_AUDIO,
  AVMEDIA_TYPE_SUBTITLE,
  AVMEDIA_TYPE_VIDEO,
  type AVPixelFormat,
} from "node-av/constants";
import { avGetCodecName, avGetPixFmtName, type Stream } from "node-av/lib";
import type { AudioTrackSpec, LeftOutTracks, VideoSpec, VideoTrackSpec } from "../../ports/index.ts";
import { FileRefused } from "./refusal.ts";
import { MAX_PIXELS, type SourceFile } from "./source-file.ts";

const MICROSECONDS = 1_000_000;
/** Limits the API's response. */
const MAX_LISTED_TRACKS = 16;
const MAX_SIDE = 8192;
const MIN_SIDE = 2;
/** Timestamps beyond it are wrong, and their audio is dropped. */
export const MAX_FILE_SECONDS = 24 * 3600;
const MAX_FRAME_RATE = 1_000;
/** Limit for all pictures together: nine hours of 1080p, or half an hour of 8K, at 30 frames per second. */
const MAX_TOTAL_PIXELS = 2e12;

interface Sides {
  readonly width: number;
  readonly height: number;
}

export const NO_PICTURE: Sides = { width: 0, height: 0 };

/** The API's name of a file format, from the name of FFmpeg's demuxer. */
function formatOf({ format }: SourceFile): string {
  const name = format.iformat?.name ?? "";
  if (name.startsWith("mov")) return format.metadata?.get("major_brand")?.startsWith("qt") ? "mov" : "mp4";
  if (name.startsWith("matroska")) return "matroska";
  return name.split(",", 1)[0] ?? "";
}

/** Describes a file for the API. Throws `FileRefused` for a file beyond the limits. */
export function specOf(file: SourceFile, bytes: number): VideoSpec {
  const duration = Number(file.format.duration) / MICROSECONDS;
  const seconds = duration > 0 && Number.isFinite(duration) ? duration : 0;
  if (file.video) checkPicture(file.video.stream, seconds);
  else checkLength(NO_PICTURE, 0, seconds);
  const tracks = file.format.streams.slice(0, MAX_LISTED_TRACKS).flatMap((stream) => trackOf(stream, seconds) ?? []);
  const bitrate = seconds > 0 ? { bitrate: Math.round((bytes * 8) / seconds) } : {};
  const leftOut = leftOutOf(file);
  return {
    format: formatOf(file),
    duration: rounded(seconds),
    ...bitrate,
    tracks,
    ...(leftOut.length > 0 && { leftOut }),
  };
}

/** The audio and caption tracks of which nothing is made. */
function leftOutOf({ format: { streams }, audio }: SourceFile): LeftOutTracks[] {
  const ofType = (type: number) =>
    streams.filter(({ codecpar, index }) => codecpar.codecType === type && index !== audio?.index);
  const found = [
    { type: "audio", tracks: ofType(AVMEDIA_TYPE_AUDIO) },
    { type: "captions", tracks: ofType(AVMEDIA_TYPE_SUBTITLE) },
  ] as const;
  return found.flatMap(({ type, tracks }) =>
    tracks.length === 0 ? [] : [{ type, count: tracks.length, languages: languagesOf(tracks) }],
  );
}

/** ISO 639 or BCP 47. Anything else in the file's metadata is text of a stranger. */
const LANGUAGE = /^[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,3}$/i;
const UNDETERMINED = "und";

function languagesOf(tracks: readonly Stream[]): string[] {
  const languages = tracks.flatMap(({ metadata }) => metadata?.get("language") ?? []);
  const declared = languages.filter((language) => LANGUAGE.test(language) && language !== UNDETERMINED);
  return [...new Set(declared)].slice(0, MAX_LISTED_TRACKS);
}

function checkPicture({ codecpar, avgFrameRate }: Stream, seconds: number): void {
  const { width, height } = codecpar;
  const size = `${width}x${height}`;
  if (width < MIN_SIDE || height < MIN_SIDE)
    throw new FileRefused(`The video of this file has an invalid size (${size}). Export it again.`);
  if (Math.max(width, height) > MAX_SIDE || width * height > MAX_PIXELS)
    throw new FileRefused(`The video of this file is ${size}; the maximum is 8192x4320. Export it in 4K or less.`);
  const rate = avgFrameRate.num > 0 && avgFrameRate.den > 0 ? avgFrameRate.num / avgFrameRate.den : 0;
  if (rate > MAX_FRAME_RATE)
    throw new FileRefused(
      `This file declares ${Math.round(rate)} frames per second; the maximum is ${MAX_FRAME_RATE}. Export it again.`,
    );
  checkLength(codecpar, rate * seconds, seconds);
}

/**
 * Checked against the header, and again while reading, because a header may declare less than the file contains, or nothing. Throws `FileRefused`.
 */
export function checkLength({ width, height }: Sides, pictures: number, seconds: number): void {
  if (seconds > MAX_FILE_SECONDS)
    throw new FileRefused(
      `This file lasts ${Math.round(seconds / 3600)} hours; the maximum is ${MAX_FILE_SECONDS / 3600}. Split it.`,
    );
  if (width * height * pictures > MAX_TOTAL_PIXELS)
    throw new FileRefused(
      `A video of ${width}x${height} may not last ${Math.round(seconds / 60)} minutes. Export it in a smaller size, or split it.`,
    );
}

function trackOf(stream: Stream, seconds: number): VideoTrackSpec | AudioTrackSpec | null {
  const { codecpar, startTime, timeBase } = stream;
  const codec = avGetCodecName(codecpar.codecId) ?? "unknown";
  const own = Number(stream.duration) * (timeBase.num / timeBase.den);
  const start = Number(startTime) * (timeBase.num / timeBase.den);
  const shared = {
    codec,
    startTime: Number.isFinite(start) && Math.abs(start) < MAX_FILE_SECONDS ? rounded(start) : 0,
    duration: rounded(own > 0 && own < MAX_FILE_SECONDS ? own : seconds),
    ...(codecpar.bitRate > 0n ? { bitrate: Number(codecpar.bitRate) } : {}),
  };
  if (codecpar.codecType === AVMEDIA_TYPE_VIDEO) {
    const pixelFormat = avGetPixFmtName(codecpar.format as AVPixelFormat);
    const { num, den } = stream.avgFrameRate;
    return {
      type: "video",
      ...shared,
      width: codecpar.width,
      height: codecpar.height,
      ...(pixelFormat ? { pixelFormat } : {}),
      ...(num > 0 && den > 0 ? { fps: rounded(num / den) } : {}),
    };
  }
  if (codecpar.codecType !== AVMEDIA_TYPE_AUDIO) return null;
  const bitDepth = codecpar.bitsPerRawSample || codecpar.bitsPerCodedSample;
  return {
    type: "audio",
    ...shared,
    channels: codecpar.channels,
    sampleRate: codecpar.sampleRate,
    ...(codec.startsWith("pcm") || codec === "flac" || codec === "alac" ? { bitDepth } : {}),
  };
}

const rounded = (value: number): number => Math.round(value * 1000) / 1000;

/** The clockwise rotation and mirroring that make a picture upright, from the display matrix (ISO/IEC 14496-12 6.2.2). */
export interface Orientation {
  readonly turn: 0 | 90 | 180 | 270;
  readonly isMirrored: boolean;
}

export function orientationOf({ codecpar }: Stream): Orientation {
  const matrix = codecpar.getCodedSideData(AV_PKT_DATA_DISPLAYMATRIX);
  if (!matrix || matrix.byteLength < 36) return { turn: 0, isMirrored: false };
  // 16.16 fixed point in native byte order, which is little-endian on all supported machines.
  const [a, b, c, d] = [0, 4, 12, 16].map((at) => matrix.readInt32LE(at) / 65_536) as [number, number, number, number];
  const isMirrored = a * d - b * c < 0;
  const degrees = Math.round(Math.atan2(b, isMirrored ? -a : a) / (Math.PI / 2)) * 90;
  return { turn: ((degrees + 360) % 360) as Orientation["turn"], isMirrored };
}

/** Values of FFmpeg's AVFieldOrder that are not interlaced: unknown and progressive. */
const PROGRESSIVE = new Set([0, 1]);

export function isInterlaced({ codecpar }: Stream): boolean {
  const { fieldOrder } = codecpar.toJSON() as { fieldOrder?: number };
  return !PROGRESSIVE.has(fieldOrder ?? 0);
}

/** The size as displayed: square pixels, upright. */
export function displaySize(stream: Stream): { width: number; height: number } {
  const { width, height, sampleAspectRatio } = stream.codecpar;
  const { num, den } = stream.sampleAspectRatio.num > 0 ? stream.sampleAspectRatio : sampleAspectRatio;
  const aspect = num > 0 && den > 0 && num / den < 16 && num / den > 1 / 16 ? num / den : 1;
  // Scales up the shorter side's pixels, never down, so no detail is lost.
  const [shownWidth, shownHeight] = aspect >= 1 ? [width * aspect, height] : [width, height / aspect];
  const { turn } = orientationOf(stream);
  const upright = turn % 180 === 0 ? [shownWidth, shownHeight] : [shownHeight, shownWidth];
  const [even1 = 0, even2 = 0] = upright.map((side) => Math.max(2, Math.round(side / 2) * 2));
  return { width: even1, height: even2 };
}
