import type { StoredRendition } from "../../ports/index.ts";
import { TICKS_PER_SECOND } from "../packet.ts";
import { planAsset } from "../vod/asset-ladder.ts";
import type { EncodeJob } from "../vod/vod-protocol.ts";
import type { ClipPiece } from "./clip-plan.ts";

const EPOCH = 1;
/** x264 CRF: close to the source, since the edges are short. */
const QUALITY = 18;
/** Used for the encoder's maximum bitrate only; no picture is dropped. */
const FRAME_RATE = { unknown: 30, most: 60 };

/**
 * A job that re-encodes the pictures of a piece at their own size, with timestamps on the parent's timeline. `delaySeconds` is the parent's reorder
 * delay.
 */
export function edgeJob(
  { rendition, track }: StoredRendition,
  { msn, fromTicks, toTicks }: ClipPiece,
  delaySeconds: number,
  preset: string,
): EncodeJob {
  const inJob = (ticks: number): number => Math.round((ticks * TICKS_PER_SECOND) / track.timescale);
  const segments = [{ msn, ticks: inJob(fromTicks), isKeyframe: true }];
  const endTicks = inJob(toTicks);
  const picture = {
    ...{ stream: 0, offsetTicks: 0, width: track.width ?? 0, height: track.height ?? 0 },
    ...{
      frameRate: Math.min(track.frameRate ?? FRAME_RATE.unknown, FRAME_RATE.most),
      bitrateBps: 0,
      isCopied: false,
      segments,
      endTicks,
    },
  };
  const rungs = planAsset(picture, []).map((rung) => ({ ...rung, id: rendition, quality: QUALITY, frameRate: null }));
  const delayTicks = Math.round(delaySeconds * TICKS_PER_SECOND);
  return { type: "encode", epoch: EPOCH, picture, rungs, preset, delayTicks, segments, endTicks };
}
