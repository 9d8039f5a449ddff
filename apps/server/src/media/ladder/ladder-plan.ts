import type { LadderProfile } from "../../ports/index.ts";
import type { VideoTrack } from "../packet.ts";

/** One rung as it is encoded and listed. */
export interface Rung {
  readonly index: number;
  /** Rendition id in addresses; never the profile's name. */
  readonly id: string;
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly bitrateBps: number;
  readonly frameRate: { readonly num: number; readonly den: number } | null;
  readonly profile: H264Profile;
  readonly quality: number | null;
  /** H.264 level as text, `3.1`. */
  readonly level: string;
  /** RFC 6381, known before the first frame is encoded. */
  readonly codecString: string;
}

type H264Profile = "baseline" | "main" | "high";

const MAX_RUNGS = 8;
/** Where neither source nor profile tells: high enough for any level that a player would refuse. */
const ASSUMED_FPS = 60;
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
 * The rungs of a session: its profiles in the source's own shape. A profile gives the short side; the long one follows the source, both even.
 * Of a default ladder the rungs that are not smaller than the source are left out; what was asked for explicitly is made as asked.
 */
export function planLadder(profiles: readonly LadderProfile[], isDefault: boolean, source: VideoTrack): Rung[] {
  const sourceShort = Math.min(source.width, source.height);
  const wanted = isDefault
    ? profiles.filter((profile) => Math.min(profile.width, profile.height) < sourceShort)
    : profiles;
  return wanted
    .toSorted((a, b) => b.height - a.height || b.bitrate - a.bitrate)
    .slice(0, MAX_RUNGS)
    .map((profile, index) => rungOf(profile, index, source));
}

function rungOf(profile: LadderProfile, index: number, source: VideoTrack): Rung {
  const short = even(Math.min(profile.width, profile.height));
  const long = even((short * Math.max(source.width, source.height)) / Math.min(source.width, source.height));
  const isPortrait = source.height > source.width;
  const [width, height] = isPortrait ? [short, long] : [long, short];
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
    level,
    codecString: `avc1.${PROFILE_BYTES[h264]}${Math.round(Number(level) * 10)
      .toString(16)
      .padStart(2, "0")}`,
  };
}

function levelOf(width: number, height: number, fps: number): string {
  const size = Math.ceil(width / MACROBLOCK) * Math.ceil(height / MACROBLOCK);
  return LEVELS.find(([, maxRate, maxSize]) => size <= maxSize && size * fps <= maxRate)?.[0] ?? "5.2";
}

function even(pixels: number): number {
  return Math.max(2, Math.round(pixels / 2) * 2);
}
