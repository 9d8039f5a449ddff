import { type Static, Type } from "typebox";
import { exact } from "./exact.ts";

/** More than any encoder of a ladder supports. `fps` is a numerator, so 60000 over 1001 must fit. */
const MAX_PIXELS = 8_192;
const MAX_BITRATE = 200_000_000;
const MAX_FPS = 240_000;
const MAX_FPS_DEN = 1_001;

/** One rendition of a live ladder, as in a stream's `profiles`. */
export const Profile = exact({
  name: Type.String({ minLength: 1, maxLength: 500 }),
  width: Type.Integer({
    minimum: 128,
    maximum: MAX_PIXELS,
    description: "Maximum picture width in pixels; the picture keeps the source's aspect ratio and orientation",
  }),
  height: Type.Integer({ minimum: 128, maximum: MAX_PIXELS, description: "Maximum picture height in pixels" }),
  bitrate: Type.Integer({ minimum: 400, maximum: MAX_BITRATE, description: "Bits per second" }),
  fps: Type.Integer({
    minimum: 0,
    maximum: MAX_FPS,
    description: "Frames per second; 0 keeps the source's frame rate",
  }),
  fpsDen: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_FPS_DEN, description: "Divisor of fps" })),
  quality: Type.Optional(Type.Integer({ minimum: 0, maximum: 44, description: "Constant rate factor; 0 for none" })),
  gop: Type.Optional(
    Type.String({
      maxLength: 32,
      description:
        "Seconds between keyframes, such as `2.0`, or `intra` for keyframes only. Each segment begins with a keyframe, whatever the interval",
    }),
  ),
  profile: Type.Optional(Type.Enum(["H264Baseline", "H264Main", "H264High", "H264ConstrainedHigh"])),
  encoder: Type.Optional(Type.Enum(["H.264"])),
});
export type Profile = Static<typeof Profile>;

/** One rendition of a recording's own ladder; only the bitrate is required. */
export const TranscodeProfile = exact({
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
  width: Type.Optional(Type.Integer({ minimum: 128, maximum: MAX_PIXELS })),
  height: Type.Optional(Type.Integer({ minimum: 128, maximum: MAX_PIXELS })),
  bitrate: Type.Integer({ minimum: 400, maximum: MAX_BITRATE }),
  fps: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_FPS })),
  fpsDen: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_FPS_DEN })),
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

/** The profiles of a stream that is created without `profiles`. An empty list means no transcoding. */
export const DEFAULT_PROFILES: readonly Profile[] = [
  rung("240p0", 426, 240, 250_000),
  rung("360p0", 640, 360, 800_000),
  rung("480p0", 854, 480, 1_600_000),
  rung("720p0", 1280, 720, 3_000_000),
];
