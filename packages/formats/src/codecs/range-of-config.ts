import { FormatError } from "../bits/index.ts";
import { describeAv1 } from "./av1.ts";
import { describeAvc } from "./avc.ts";
import { describeHevc } from "./hevc.ts";
import type { VideoRange } from "./video-range.ts";

const DESCRIBE = { avc: describeAvc, hevc: describeHevc, av1: describeAv1 };

/** The range of the pictures that a body of `avcC`, `hvcC` or `av1C` describes; standard if it cannot be read. */
export function rangeOfConfig(codec: keyof typeof DESCRIBE, config: Uint8Array): VideoRange {
  try {
    return DESCRIBE[codec](config).range;
  } catch (error) {
    if (error instanceof FormatError) return "SDR";
    throw error;
  }
}
