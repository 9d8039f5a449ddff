import { FormatError } from "../bits/index.ts";
import type { VideoRange } from "./video-range.ts";

export type Chroma = "4:0:0" | "4:2:0" | "4:2:2" | "4:4:4";

/** The pictures that a decoder configuration describes. Sizes are in pixels after cropping, before the sample aspect ratio applies. */
export interface VideoDescription {
  /** RFC 6381, for example `avc1.64001f`. */
  readonly codecString: string;
  readonly width: number;
  readonly height: number;
  /** Pictures per second as declared by the encoder; null if it declares none. */
  readonly frameRate: number | null;
  readonly chroma: Chroma;
  readonly bitDepth: number;
  readonly range: VideoRange;
  /** Size of the length before each NAL unit, in bytes; 0 for AV1, which has no NAL units. */
  readonly nalLengthSize: number;
  /** Width to height of one sample; null when square or unknown. HEVC and AV1 configurations are not parsed for it. */
  readonly sampleAspect: readonly [number, number] | null;
}

const CHROMA: readonly Chroma[] = ["4:0:0", "4:2:0", "4:2:2", "4:4:4"];

/** Maps `chroma_format_idc` of H.264 and H.265 (table 6-1 of each) to its name. */
export function chromaOf(formatIdc: number, offset: number): Chroma {
  const chroma = CHROMA[formatIdc];
  if (!chroma) throw new FormatError("chroma_format_idc of 0 to 3", offset);
  return chroma;
}

// The sample entry has 16 bits per side, and no level of the three codecs allows more than this.
const MAX_SIDE = 16_384;

/** Throws `FormatError` for a picture that no level of any codec allows. */
export function checkSize(width: number, height: number, offset: number): void {
  if (width < 1 || height < 1 || width > MAX_SIDE || height > MAX_SIDE) {
    throw new FormatError(`a picture of 1 to ${MAX_SIDE} pixels a side, not ${width}x${height},`, offset);
  }
}

export function hexByte(value: number): string {
  return value.toString(16).padStart(2, "0");
}
