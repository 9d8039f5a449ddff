import { firstSampleOf } from "@weir/formats/mp4";
import type { Clock } from "../../platform/clock.ts";
import type { ListedRendition } from "../packaging/hls/live-multivariant.ts";
import type { LiveSegment } from "../packaging/live-segment.ts";
import type { StillFormat } from "../transcode/index.ts";
import { KeptStills } from "./kept-stills.ts";
import type { Keyframe, StillMaker } from "./still-maker.ts";

/** A stream's picture is decoded once in so much time, however many ask. */
export const LIVE_STILL_MS = 5_000;
const SHAPE = { maxWidth: 640, maxHeight: 360 } as const;
/** A rendition of less is not worth looking at. */
const MIN_WIDTH = 320;

export interface LiveSession {
  readonly sessionId: string;
  readonly listed: readonly ListedRendition[];
}

/** The newest picture of a live stream: of the smallest rendition that is large enough, so that a ladder spares decoding the source. */
export class LiveStills {
  readonly #maker: Pick<StillMaker, "make">;
  readonly #kept: KeptStills;

  constructor(maker: Pick<StillMaker, "make">, clock: Clock) {
    this.#maker = maker;
    this.#kept = new KeptStills(clock);
  }

  /** Null where there is no picture, or none that can be decoded by itself. */
  newest({ sessionId, listed }: LiveSession, format: StillFormat): Promise<Uint8Array | null> {
    return this.#kept.get(`${sessionId} ${format}`, LIVE_STILL_MS, async () => {
      const keyframe = newestKeyframe(listed);
      return keyframe && this.#maker.make(keyframe, { ...SHAPE, format });
    });
  }
}

function newestKeyframe(listed: readonly ListedRendition[]): Keyframe | null {
  const pictures = listed
    .flatMap(({ rendition, track }) => (track.kind === "video" ? [{ rendition, width: track.width }] : []))
    .toSorted((a, b) => a.width - b.width);
  const large = pictures.filter(({ width }) => width >= MIN_WIDTH);
  for (const { rendition } of [...large, ...pictures.toReversed()]) {
    const segments = [...rendition.listed, ...(rendition.open ? [rendition.open] : [])];
    for (const segment of segments.toReversed()) {
      const keyframe = keyframeOf(segment);
      if (keyframe) return keyframe;
    }
  }
  return null;
}

/** A copy: the segment's memory is used again. */
function keyframeOf({ init, parts }: LiveSegment): Keyframe | null {
  const [first] = parts;
  if (init?.track.kind !== "video" || !first?.isIndependent) return null;
  const { codec, config } = init.track;
  const data = firstSampleOf(Buffer.concat(first.views));
  return data && { codec, config, data };
}
