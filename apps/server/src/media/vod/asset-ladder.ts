import type { AssetProfile, LadderProfile } from "../../ports/index.ts";
import { planLadder, type Rung } from "../ladder/ladder-plan.ts";
import type { ScannedPicture } from "./vod-protocol.ts";

const DEFAULT_LADDER = [
  { name: "360p0", width: 640, height: 360, bitrate: 1_000_000 },
  { name: "720p0", width: 1280, height: 720, bitrate: 4_000_000 },
];
const DEFAULT_QUALITY = 24;
/** A smaller picture needs slightly more bits per pixel, so a rung gets its share of the source's bitrate times this. */
const AREA_MARGIN = 1.2;
const MIN_BITRATE = 100_000;
/** Maximum bitrate of a source rendition that is re-encoded at its own size; quality decides the actual rate. */
const BITS_PER_PIXEL = 0.12;
const MIN_SOURCE_BITRATE = 300_000;
/** Above this rate, frames are dropped: common screens show no more. */
const MAX_FRAME_RATE = 60;
const RATE_TOLERANCE = 1.02;
/** The largest H.264 level allows no more. */
const MAX_ENCODED = { long: 4096, short: 2304 };
const NAME = /^[\w-]{1,64}$/;

/**
 * The rungs to encode, each with the name of its MP4: from the default ladder or the profiles, plus one at the source's size if the source itself
 * cannot be played.
 */
export function planAsset(picture: ScannedPicture, profiles: readonly AssetProfile[] | null): Rung[] {
  const { width, height, isCopied } = picture;
  const source = {
    ...within(width, height),
    id: 0,
    kind: "video",
    codec: "avc",
    config: new Uint8Array(),
    codecString: "",
  } as const;
  const rungs = profiles
    ? planLadder(
        profiles.map((profile, n) => ladderProfile(profile, n, picture)),
        false,
        source,
      )
    : planLadder(defaultLadder(picture), true, source);
  const named = rungs.map((rung) => ({
    ...rung,
    frameRate: rung.frameRate ?? rateOf(picture),
    name: NAME.test(rung.name) ? rung.name : rung.id,
  }));
  if (isCopied) return named;
  const bitrate = Math.max(
    MIN_SOURCE_BITRATE,
    Math.round(source.width * source.height * Math.min(MAX_FRAME_RATE, picture.frameRate) * BITS_PER_PIXEL),
  );
  const profile = {
    name: "source",
    width: source.width,
    height: source.height,
    bitrate,
    fps: 0,
    quality: DEFAULT_QUALITY,
  };
  const whole = planLadder([{ ...profile, profile: "H264High" }], false, source).map((rung) => ({
    ...rung,
    frameRate: rateOf(picture),
    id: "source",
  }));
  return [...whole, ...named].map((rung, index) => ({ ...rung, index }));
}

function within(width: number, height: number): { width: number; height: number } {
  const scale = Math.min(1, MAX_ENCODED.long / Math.max(width, height), MAX_ENCODED.short / Math.min(width, height));
  return { width: width * scale, height: height * scale };
}

/** Keeps only rungs smaller than the source, in pixels and in bitrate. */
function defaultLadder({ width, height, bitrateBps, isCopied }: ScannedPicture): LadderProfile[] {
  return DEFAULT_LADDER.flatMap(({ name, width: w, height: h, bitrate }) => {
    const share = (w * h) / (width * height);
    const wanted = isCopied
      ? Math.min(bitrate, Math.max(MIN_BITRATE, Math.round(bitrateBps * share * AREA_MARGIN)))
      : bitrate;
    const isSmaller = h < Math.min(width, height) && (!isCopied || wanted < bitrateBps);
    return isSmaller
      ? [{ name, width: w, height: h, bitrate: wanted, fps: 0, quality: DEFAULT_QUALITY, profile: "H264Main" }]
      : [];
  });
}

function ladderProfile(profile: AssetProfile, n: number, picture: ScannedPicture): LadderProfile {
  const { name, width, height, bitrate, fps = 0, fpsDen, quality, gop, profile: h264 } = profile;
  const sides = {
    width: width ?? (height ? Math.round((height * picture.width) / picture.height) : picture.width),
    height: height ?? (width ? Math.round((width * picture.height) / picture.width) : picture.height),
  };
  return {
    ...{ name: name ?? `${sides.height}p${n}`, ...sides, bitrate, fps },
    ...(fpsDen && { fpsDen }),
    ...(quality && { quality }),
    ...(gop && { gop }),
    ...(h264 && { profile: h264 }),
  };
}

/** Null keeps the source's pictures. */
function rateOf({ frameRate }: ScannedPicture): Rung["frameRate"] {
  return frameRate > MAX_FRAME_RATE * RATE_TOLERANCE ? { num: MAX_FRAME_RATE, den: 1 } : null;
}
