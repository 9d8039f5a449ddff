/**
 * What a transcode child and its parent say to each other over two pipes, file descriptor 3 into the child and 4 out of it. Times are PTS and DTS on the
 * session's timeline, in 90 kHz ticks. The first message is `start`; a child that has none yet waits, with its libraries loaded.
 */

import { messageFrame } from "../../platform/pipe-frames.ts";

export type EncoderName = "libx264" | "h264_nvenc" | "h264_vaapi" | "h264_qsv";

export interface Ratio {
  readonly num: number;
  readonly den: number;
}

export interface TranscodeSource {
  readonly codec: "avc" | "hevc" | "av1";
  /** Base64 of the body of `avcC`, `hvcC` or `av1C`. */
  readonly config: string;
  readonly width: number;
  readonly height: number;
}

export interface TranscodeRung {
  readonly index: number;
  /** Even, and encoded exactly. */
  readonly width: number;
  readonly height: number;
  readonly bitrateBps: number;
  /** Frames are dropped or repeated to come to this rate; null keeps the source's frames and their times. */
  readonly frameRate: Ratio | null;
  readonly profile: "baseline" | "main" | "high" | null;
  /** The encoder's constant quality (CRF of x264), with `bitrateBps` as the ceiling; null encodes to the bitrate. */
  readonly quality: number | null;
  /** Seconds between IDR pictures within a segment; 0 makes every picture one, null only the first. */
  readonly keyframeSeconds: number | null;
  /** H.264 level, for example "3.1"; empty lets the encoder choose. */
  readonly level: string;
}

export interface TranscodeStart {
  readonly video: TranscodeSource;
  readonly rungs: readonly TranscodeRung[];
  /** x264's; the other encoders have their own fixed settings. */
  readonly preset: string;
  readonly encoder: EncoderName;
}

export interface ReadyRung {
  readonly index: number;
  /** Base64 of the body of `avcC`. */
  readonly config: string;
  /** RFC 6381, for example `avc1.64001f`. */
  readonly codecString: string;
}

export interface AudioSource {
  readonly codec: "aac" | "opus" | "mp2" | "ac3" | "eac3" | "pcma" | "pcmu";
  /** Base64 of the AudioSpecificConfig of AAC; empty for other codecs. */
  readonly config: string;
  readonly sampleRate: number;
  readonly channels: number;
}

/** Always at 48 kHz. */
export interface AudioTarget {
  readonly codec: "aac" | "opus";
  readonly channels: 1 | 2;
  readonly bitrateBps: number;
}

export interface AudioStart {
  readonly source: AudioSource;
  readonly target: AudioTarget;
}

export type StillFormat = "jpeg" | "png";

/** One picture that a child decodes from a keyframe and makes an image of. */
export interface StillJob {
  readonly id: number;
  readonly codec: "avc" | "hevc" | "av1";
  /** Base64 of the body of `avcC`, `hvcC` or `av1C`. */
  readonly config: string;
  /** The image fits into this, keeps its shape, and is never larger than the picture. */
  readonly maxWidth: number;
  readonly maxHeight: number;
  /** `tile` gives no image but pixels for a sheet: a `PlanarPicture` of exactly the largest size, black around the image. */
  readonly format: StillFormat | "tile";
}

/** Many tiles that a child makes one JPEG of, from left to right and from top to bottom. */
export interface SheetJob {
  readonly id: number;
  readonly columns: number;
  readonly tileWidth: number;
  readonly tileHeight: number;
}

/** A PNG or JPEG that a child makes a keyframe of, for the parameter sets of a rendition. */
export interface SlateJob {
  readonly id: number;
  /** Base64 of the body of `avcC`. */
  readonly config: string;
}

/** A short moving picture without sound that a child makes of a stretch of video. */
export interface PreviewStart extends Pick<StillJob, "codec" | "config" | "maxWidth" | "maxHeight"> {
  /** What is shown of the packets that follow: from this PTS on and before that one, in 90 kHz ticks. */
  readonly fromTicks: number;
  readonly toTicks: number;
  /** Pictures a second, at most. */
  readonly frameRate: number;
}

export type TranscodeErrorCode = "unsupported-pixel-format" | "unsupported-size" | "decode" | "encode" | "internal";

/** Parent to child. */
export type ToChild =
  | { readonly type: "start"; readonly start: TranscodeStart }
  | {
      readonly type: "packet";
      readonly isIndependent: boolean;
      readonly dts: number;
      readonly pts: number;
      /** One access unit: NAL units behind 4-byte lengths, or one AV1 temporal unit. */
      readonly data: Uint8Array;
    }
  /** Before the packet it concerns: each rung begins segment `msn` with an IDR at its first frame with PTS >= `ticks`. Frames before the first cut are not encoded. */
  | { readonly type: "cut"; readonly msn: number; readonly ticks: number }
  /** Frames with PTS < `ticks` are decoded and not encoded; the first that is encoded is an IDR, and first of its segment only if none was left out of it. */
  | { readonly type: "skip-until"; readonly ticks: number }
  /** Before the cut it concerns: from there on these rungs are made, and no others. Answered with `ready` for each new one, and `dropped`. */
  | { readonly type: "rungs"; readonly rungs: readonly TranscodeRung[] }
  /** Encode and send all that is in flight, then answer `flushed`. Goes on at the next independent packet, with an IDR. */
  | { readonly type: "flush"; readonly id: number }
  /** In place of `start`: the child converts one audio track. */
  | { readonly type: "start-audio"; readonly start: AudioStart }
  /** In place of `start`: the packets that follow become an animation, which a `still` with the id of `flush` gives. */
  | { readonly type: "start-preview"; readonly start: PreviewStart }
  | ({ readonly type: "audio" } & AudioPacket)
  /** In place of `start`, and again: the child makes an image of one keyframe, NAL units behind 4-byte lengths or an AV1 temporal unit. */
  | { readonly type: "still"; readonly job: StillJob; readonly data: Uint8Array }
  /** As `still`, of tiles that were made before, one behind the other. */
  | { readonly type: "sheet"; readonly job: SheetJob; readonly data: Uint8Array }
  /** As `still`, of an image file. */
  | { readonly type: "slate"; readonly job: SlateJob; readonly data: Uint8Array };

/** One picture of a rung. */
export interface EncodedPicture {
  readonly pts: number;
  readonly isIndependent: boolean;
  /** NAL units behind 4-byte lengths. */
  readonly data: Uint8Array;
}

/** One audio frame. */
export interface AudioPacket {
  /** On the source's clock. */
  readonly pts: number;
  readonly data: Uint8Array;
}

/** Child to parent. */
export type FromChild =
  | { readonly type: "ready"; readonly rungs: readonly ReadyRung[] }
  | ({
      readonly type: "packet";
      readonly rung: number;
      readonly isFirstOfSegment: boolean;
      readonly msn: number;
      readonly dts: number;
    } & EncodedPicture)
  | { readonly type: "flushed"; readonly id: number }
  /** Indices of rungs that are not made from here on: all that there is of them is sent. */
  | { readonly type: "dropped"; readonly rungs: readonly number[] }
  /** It is loaded, and begins with what it is sent. */
  | { readonly type: "loaded" }
  /**
   * 5 times a second while there is work, and whenever there is none left: how many packets, of video or of audio, are worked off, and the
   * milliseconds that it took. All that can be made of them is sent, but for a picture that is being encoded.
   */
  | { readonly type: "progress"; readonly packets: number; readonly busyMs: number }
  | ({ readonly type: "audio" } & AudioPacket)
  /** What that job of a still, a sheet, a slate or a preview makes; empty where nothing can be decoded. */
  | { readonly type: "still"; readonly id: number; readonly data: Uint8Array }
  | {
      readonly type: "error";
      readonly code: TranscodeErrorCode;
      /** A sentence for a person. */
      readonly message: string;
      /** The child ends after it. */
      readonly isFatal: boolean;
    };

/** Works off one message at a time, in the child. Throws `FatalTranscodeError`. */
export type Engine = (message: ToChild) => Promise<void>;

export type Send = (message: FromChild) => void;

/** The frame of one message, in a buffer of its own. */
export function frameOf(message: ToChild | FromChild): Uint8Array {
  const { data, ...fields }: { readonly type: string; readonly data?: Uint8Array } = message;
  return messageFrame(fields, data && [data]);
}
