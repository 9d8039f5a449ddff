import { rangeOfConfig } from "@weir/formats/codecs";
import { type VideoVariant, writeMultivariantPlaylist } from "@weir/formats/hls";
import type { Track } from "../../packet.ts";
import type { WindowRendition, WindowSegment } from "../window-rendition.ts";

/** Assumed before any measurement. */
const UNMEASURED_BPS = { video: 2_500_000, audio: 160_000 };
/** Players read a peak once, so it has a margin, which is large while it rests on few segments. */
const SETTLED_SEGMENTS = 3;
const MARGINS = { early: 1.5, settled: 1.1 };

/** A rendition as offered to viewers. */
export interface ListedRendition {
  readonly rendition: WindowRendition;
  readonly track: Track;
  /** Bits per second of its encoder; absent for the source. */
  readonly plannedBps?: number;
  /** Frames per second of its encoder; absent for the source, and for rungs that follow it. */
  readonly plannedFps?: number;
}

/**
 * The multivariant playlist of a live timeline: each rendition's track and its measured bitrate, if there is one. `addressOf` returns the URL of
 * a rendition's playlist. `sessionData` is for players that know it, `iFramesOf` tells of the playlists of keyframes.
 */
export function liveMultivariant(
  renditions: Iterable<ListedRendition>,
  addressOf: (rendition: string) => string,
  sessionData: Readonly<Record<string, string>> = {},
  iFramesOf: (rendition: string) => VideoVariant["iFrames"] | null = () => null,
): string {
  const video = [];
  let audio = null;
  let sourceFps: number | null = null;
  for (const { rendition, track, plannedBps, plannedFps } of renditions) {
    const uri = addressOf(rendition.name);
    const { peak, average } = measure(rendition, plannedBps, track);
    if (track.kind === "video") {
      const { codecString, width, height } = track;
      if (plannedBps === undefined) sourceFps = rendition.frameRate;
      const frameRate = plannedFps ?? sourceFps;
      const range = rangeOfConfig(track.codec, track.config);
      const iFrames = iFramesOf(rendition.name);
      const rates = { bandwidth: peak, averageBandwidth: average };
      video.push({ uri, ...rates, codecString, width, height, frameRate, range, ...(iFrames && { iFrames }) });
    } else
      audio ??= {
        uri,
        bandwidth: peak,
        averageBandwidth: average,
        codecString: track.codecString,
        channels: track.channels,
      };
  }
  return writeMultivariantPlaylist({ video, audio, sessionData });
}

/** The track of a rendition's newest segment with bytes; null if there is none. */
export function newestTrack(rendition: WindowRendition): Track | null {
  if (rendition.open?.init) return rendition.open.init.track;
  return rendition.listed.findLast((segment) => segment.init !== null)?.init?.track ?? null;
}

interface Measured {
  /** Bits per second. */
  readonly peak: number;
  readonly average: number;
}

function measure(
  { open, listed, peakBps }: WindowRendition,
  plannedBps: number | undefined,
  { kind, announcedBps = 0 }: Track,
): Measured {
  const whole = listed.filter((segment) => segment.bytes > 0);
  const measured: readonly WindowSegment[] = whole.length > 0 ? whole : open ? [open] : [];
  let bits = 0;
  let seconds = 0;
  for (const segment of measured) {
    bits += segment.bytes * 8;
    seconds += segment.seconds;
  }
  // The first pictures may be far easier to encode than the following ones.
  const least = plannedBps ?? Math.ceil(announcedBps * MARGINS.settled);
  const unmeasured = least || UNMEASURED_BPS[kind];
  if (seconds === 0) return { peak: unmeasured, average: unmeasured };
  const margin = whole.length >= SETTLED_SEGMENTS ? MARGINS.settled : MARGINS.early;
  const peak = Math.max(peakBps, bits / seconds) * margin;
  return { peak: Math.ceil(Math.max(peak, least)), average: Math.ceil(bits / seconds) };
}
