import { firstSampleOf } from "@weir/formats/mp4";
import type { ListedRendition } from "../packaging/hls/live-multivariant.ts";
import type { WindowSegment } from "../packaging/window-rendition.ts";
import type { Keyframe } from "./still-maker.ts";

/** The newest keyframe of a live session, from the smallest sufficiently large rendition, so that with a ladder the source need not be decoded. */
export function newestKeyframe(listed: readonly ListedRendition[], minWidth: number): Keyframe | null {
  const pictures = listed
    .flatMap(({ rendition, track }) => (track.kind === "video" ? [{ rendition, width: track.width }] : []))
    .toSorted((a, b) => a.width - b.width);
  const large = pictures.filter(({ width }) => width >= minWidth);
  for (const { rendition } of [...large, ...pictures.toReversed()]) {
    const segments = [...rendition.listed, ...(rendition.open ? [rendition.open] : [])];
    for (const segment of segments.toReversed()) {
      const keyframe = keyframeOf(segment);
      if (keyframe) return keyframe;
    }
  }
  return null;
}

/** A copy, because the segment's memory is reused. */
function keyframeOf({ init, parts }: WindowSegment): Keyframe | null {
  const [first] = parts;
  if (init?.track.kind !== "video" || !first?.isIndependent) return null;
  const { codec, config } = init.track;
  const data = firstSampleOf(Buffer.concat(first.views));
  return data && { codec, config, data };
}
