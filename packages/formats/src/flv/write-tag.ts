const KEYFRAME = 1;
const OTHER_FRAME = 2;
const AVC = 7;
const ENHANCED = 0x80;
const FOUR_CC = { hevc: [0x68, 0x76, 0x63, 0x31], av1: [0x61, 0x76, 0x30, 0x31] } as const;
/** AAC, 44 kHz, 16 bits, stereo: every AAC tag declares this regardless of its configuration (FLV 1.0, E.4.2.1). */
const AAC = 0xaf;

export interface VideoFrame {
  readonly codec: "avc" | "hevc" | "av1";
  readonly isKeyframe: boolean;
  /** Milliseconds from decoding to presentation. */
  readonly compositionTime: number;
}

/** The header of a video message with a frame: legacy FLV for H.264, which every server reads, otherwise Enhanced RTMP. */
export function videoFrameHead({ codec, isKeyframe, compositionTime: time }: VideoFrame): Uint8Array {
  const frameType = (isKeyframe ? KEYFRAME : OTHER_FRAME) << 4;
  // `Uint8Array` keeps the lowest eight bits of each number.
  if (codec === "avc") return Uint8Array.of(frameType | AVC, 1, time >> 16, time >> 8, time);
  const offset = [time >> 16, time >> 8, time];
  const head = [ENHANCED | frameType | 1, ...FOUR_CC[codec]];
  return Uint8Array.from(codec === "hevc" ? [...head, ...offset] : head);
}

/** The header of a video message with a decoder configuration. */
export function videoConfigHead(codec: VideoFrame["codec"]): Uint8Array {
  if (codec === "avc") return Uint8Array.from([(KEYFRAME << 4) | AVC, 0, 0, 0, 0]);
  return Uint8Array.from([ENHANCED | (KEYFRAME << 4), ...FOUR_CC[codec]]);
}

export const AAC_CONFIG_HEAD = Uint8Array.of(AAC, 0);
export const AAC_FRAME_HEAD = Uint8Array.of(AAC, 1);
