import { firstSampleOf } from "@weir/formats/mp4";
import type { Clock } from "../../platform/clock.ts";
import type { ListedRendition } from "../packaging/hls/live-multivariant.ts";
import type { WindowSegment } from "../packaging/window-rendition.ts";
import type { StillFormat } from "../transcode/index.ts";
import { KeptStills } from "./kept-stills.ts";
import type { Keyframe, StillMaker } from "./still-maker.ts";

/** A client waits this long for the first picture of a stream. */
const ANSWER_MS = 4_000;

/** Minimum interval between decodes of a stream's picture in one size, however many viewers request it. */
export const LIVE_STILL_MS = 5_000;
const SHAPE = { maxWidth: 640, maxHeight: 360 } as const;
/** Without a requested width, a smaller rendition is only used if there is no larger one. */
const MIN_WIDTH = 320;

/** A live session with its pictures. */
export interface PicturedSession {
  readonly sessionId: string;
  readonly listed: readonly ListedRendition[];
}

/** The newest picture of a live stream, from the smallest sufficiently large rendition, so that with a ladder the source need not be decoded. */
export class LiveStills {
  readonly #maker: Pick<StillMaker, "make">;
  readonly #kept: KeptStills;

  constructor(maker: Pick<StillMaker, "make">, clock: Clock) {
    this.#maker = maker;
    this.#kept = new KeptStills(clock, ANSWER_MS);
  }

  /** Null if there is no independently decodable picture. */
  newest(
    { sessionId, listed }: PicturedSession,
    width: number | null,
    format: StillFormat,
  ): Promise<Uint8Array | null> {
    const size = width === null ? SHAPE : { maxWidth: width, maxHeight: width };
    return this.#kept.get(`${sessionId} ${width} ${format}`, LIVE_STILL_MS, async () => {
      const keyframe = newestKeyframe(listed, width ?? MIN_WIDTH);
      return keyframe && this.#maker.make(keyframe, { ...size, format });
    });
  }
}

function newestKeyframe(listed: readonly ListedRendition[], minWidth: number): Keyframe | null {
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
