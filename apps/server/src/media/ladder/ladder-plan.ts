import type { LadderProfile } from "../../ports/index.ts";
import type { VideoTrack } from "../packet.ts";
import type { TranscodeRung } from "../transcode/index.ts";

/** One rung as it is encoded and listed. */
export interface Rung extends TranscodeRung {
  /** Rendition id in URLs; never the profile's name. */
  readonly id: string;
  readonly name: string;
  /** RFC 6381, known before the first frame is encoded. */
  readonly codecString: string;
  /** Encoded only for a multistream target: viewers have the source, which is no larger. */
  readonly isForTargets: boolean;
}

type H264Profile = NonNullable<Rung["profile"]>;

/** Assumed if neither source nor profile tells: high enough for any level that a player would refuse. */
const ASSUMED_FPS = 60;
/** The transcoder produces no shorter side than this. */
const MIN_SIDE = 16;
const MACROBLOCK = 16;
/** H.264 Table A-1: macroblocks per second, macroblocks per frame. */
const LEVELS: readonly (readonly [level: string, rate: number, size: number])[] = [
  ["1.3", 11_880, 396],
  ["2.1", 19_800, 792],
  ["2.2", 20_250, 1620],
  ["3", 40_500, 1620],
  ["3.1", 108_000, 3600],
  ["3.2", 216_000, 5120],
  ["4", 245_760, 8192],
  ["4.2", 522_240, 8704],
  ["5.1", 983_040, 36_864],
  ["5.2", 2_073_600, 36_864],
];
const PROFILE_BYTES: Readonly<Record<H264Profile, string>> = { baseline: "42c0", main: "4d40", high: "6400" };
const PROFILES: Readonly<Record<string, H264Profile>> = {
  H264Baseline: "baseline",
  H264Main: "main",
  H264High: "high",
  H264ConstrainedHigh: "high",
};

/**
 * The rungs of a session: each is the largest picture in the source's aspect ratio that fits its profile's width and height, turned like the
 * source, with even sides. A default ladder omits rungs that are not smaller than the source, unless a target needs them (`forTargets`, by
 * profile). Explicitly requested rungs are made as requested.
 */
export function planLadder(
  profiles: readonly LadderProfile[],
  isDefault: boolean,
  source: VideoTrack,
  forTargets: ReadonlySet<string> = new Set(),
): Rung[] {
  return profiles
    .map((profile) => ({ profile, ...sizeWithin(profile, source) }))
    .map((sized) => ({ ...sized, isLeftOut: isDefault && sized.width * sized.height >= source.width * source.height }))
    .filter(({ profile, isLeftOut }) => !isLeftOut || forTargets.has(profile.name))
    .toSorted((a, b) => b.width * b.height - a.width * a.height || b.profile.bitrate - a.profile.bitrate)
    .map(({ profile, width, height, isLeftOut }, index) => ({
      ...rungOf(profile, width, height, index),
      isForTargets: isLeftOut,
    }));
}

function sizeWithin(profile: LadderProfile, source: VideoTrack): { width: number; height: number } {
  const long = Math.max(profile.width, profile.height) / Math.max(source.width, source.height);
  const short = Math.min(profile.width, profile.height) / Math.min(source.width, source.height);
  const scale = Math.min(long, short);
  return { width: even(source.width * scale), height: even(source.height * scale) };
}

function rungOf(profile: LadderProfile, width: number, height: number, index: number): Omit<Rung, "isForTargets"> {
  const frameRate = profile.fps > 0 ? { num: profile.fps, den: profile.fpsDen ?? 1 } : null;
  const level = levelOf(width, height, frameRate ? frameRate.num / frameRate.den : ASSUMED_FPS);
  const h264 = PROFILES[profile.profile ?? ""] ?? "main";
  return {
    index,
    id: `v${index}`,
    name: profile.name,
    width,
    height,
    bitrateBps: profile.bitrate,
    frameRate,
    profile: h264,
    quality: profile.quality ?? null,
    keyframeSeconds: keyframeSecondsOf(profile.gop),
    level,
    codecString: `avc1.${PROFILE_BYTES[h264]}${Math.round(Number(level) * 10)
      .toString(16)
      .padStart(2, "0")}`,
  };
}

function keyframeSecondsOf(gop: string | undefined): number | null {
  if (gop === "intra") return 0;
  const seconds = Number(gop);
  return seconds > 0 ? seconds : null;
}

function levelOf(width: number, height: number, fps: number): string {
  const size = Math.ceil(width / MACROBLOCK) * Math.ceil(height / MACROBLOCK);
  return LEVELS.find(([, maxRate, maxSize]) => size <= maxSize && size * fps <= maxRate)?.[0] ?? "5.2";
}

function even(pixels: number): number {
  return Math.max(MIN_SIDE, Math.round(pixels / 2) * 2);
}
