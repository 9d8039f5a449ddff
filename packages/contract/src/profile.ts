import { type Static, Type } from "typebox";
import { exact } from "./exact.ts";

/** One rendition of a live ladder, as `profiles` of a stream lists them. */
export const Profile = exact({
  name: Type.String({ minLength: 1, maxLength: 500 }),
  width: Type.Integer({ minimum: 128, description: "Pixels" }),
  height: Type.Integer({ minimum: 128, description: "Pixels" }),
  bitrate: Type.Integer({ minimum: 400, description: "Bits per second" }),
  fps: Type.Integer({ minimum: 0, description: "Frames per second, 0 for the source's own" }),
  fpsDen: Type.Optional(Type.Integer({ minimum: 1, description: "Divisor of fps" })),
  quality: Type.Optional(Type.Integer({ minimum: 0, maximum: 44, description: "Constant rate factor; 0 for none" })),
  gop: Type.Optional(Type.String({ maxLength: 32, description: "Seconds between keyframes, or `intra`" })),
  profile: Type.Optional(Type.Enum(["H264Baseline", "H264Main", "H264High", "H264ConstrainedHigh"])),
  encoder: Type.Optional(Type.Enum(["H.264"])),
});
export type Profile = Static<typeof Profile>;

/** One rendition of a recording's own ladder; only the bitrate is needed. */
export const TranscodeProfile = exact({
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
  width: Type.Optional(Type.Integer({ minimum: 128 })),
  height: Type.Optional(Type.Integer({ minimum: 128 })),
  bitrate: Type.Integer({ minimum: 400 }),
  fps: Type.Optional(Type.Integer({ minimum: 0 })),
  fpsDen: Type.Optional(Type.Integer({ minimum: 1 })),
  quality: Type.Optional(Type.Integer({ minimum: 0, maximum: 44 })),
  gop: Type.Optional(Type.String({ maxLength: 32 })),
  profile: Type.Optional(Type.Enum(["H264Baseline", "H264Main", "H264High", "H264ConstrainedHigh"])),
  encoder: Type.Optional(Type.Enum(["H.264", "HEVC", "VP8", "VP9"])),
});
export type TranscodeProfile = Static<typeof TranscodeProfile>;

const rung = (name: string, width: number, height: number, bitrate: number): Profile => ({
  name,
  width,
  height,
  bitrate,
  fps: 0,
});

/** What a stream gets when it is created without `profiles`. An empty list means no transcoding. */
export const DEFAULT_PROFILES: readonly Profile[] = [
  rung("240p0", 426, 240, 250_000),
  rung("360p0", 640, 360, 800_000),
  rung("480p0", 854, 480, 1_600_000),
  rung("720p0", 1280, 720, 3_000_000),
];
