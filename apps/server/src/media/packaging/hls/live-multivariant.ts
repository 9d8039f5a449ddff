import { writeMultivariantPlaylist } from "@weir/formats/hls";
import type { LiveRendition } from "../live-rendition.ts";
import type { InitSegment, LiveSegment } from "../live-segment.ts";

/** Said before anything was measured. */
const UNMEASURED_BPS = { video: 2_500_000, audio: 160_000 };

/**
 * The multivariant playlist of a live timeline: what each rendition's newest init segment says, and its measured bitrate.
 * `base` is the address of the timeline relative to the playlist, with a slash at its end.
 */
export function liveMultivariant(renditions: Iterable<LiveRendition>, base: string): string {
  const video = [];
  let audio = null;
  for (const rendition of renditions) {
    const track = newestInit(rendition)?.track;
    if (!track) continue;
    const uri = `${base}${rendition.name}/index.m3u8`;
    const { peak, average } = bitrates(rendition, UNMEASURED_BPS[track.kind]);
    if (track.kind === "video") {
      const { codecString, width, height } = track;
      video.push({ uri, bandwidth: peak, averageBandwidth: average, codecString, width, height, frameRate: null });
    } else audio = { uri, bandwidth: peak, codecString: track.codecString, channels: track.channels };
  }
  return writeMultivariantPlaylist({ video, audio });
}

function newestInit(rendition: LiveRendition): InitSegment | null {
  if (rendition.open?.init) return rendition.open.init;
  return rendition.listed.findLast((segment) => segment.init !== null)?.init ?? null;
}

function bitrates(rendition: LiveRendition, unmeasured: number): { peak: number; average: number } {
  const { open, listed } = rendition;
  const measured: readonly LiveSegment[] = listed.some((segment) => segment.bytes > 0) ? listed : open ? [open] : [];
  let bits = 0;
  let seconds = 0;
  let peak = 0;
  for (const segment of measured) {
    if (segment.bytes === 0 || segment.durationTicks === 0) continue;
    bits += segment.bytes * 8;
    seconds += segment.seconds;
    peak = Math.max(peak, (segment.bytes * 8) / segment.seconds);
  }
  if (seconds === 0) return { peak: unmeasured, average: unmeasured };
  return { peak: Math.ceil(peak * 1.1), average: Math.ceil(bits / seconds) };
}
