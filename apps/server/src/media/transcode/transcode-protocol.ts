/**
 * What a transcode child and its parent say to each other: binary frames over two pipes, file descriptor 3 into the child and 4 out of it.
 *
 * A frame is a uint32, the bytes that follow it; a uint8, its type; and the payload, everything big-endian. Times are PTS and DTS on the
 * session's timeline, in 90 kHz ticks, as float64. The first message is `start`; a child that has none yet waits, with its libraries loaded.
 */

import { FrameWriter, frameReader, jsonFrame } from "../../platform/pipe-frames.ts";
import type { AudioStart } from "./audio-protocol.ts";
import type { PreviewStart } from "./preview-protocol.ts";
import type { SheetJob, StillJob } from "./still-protocol.ts";

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
  /** One audio frame. */
  | { readonly type: "audio"; readonly pts: number; readonly data: Uint8Array }
  /** In place of `start`, and again: the child makes an image of one keyframe, NAL units behind 4-byte lengths or an AV1 temporal unit. */
  | { readonly type: "still"; readonly job: StillJob; readonly data: Uint8Array }
  /** As `still`, of tiles that were made before, one behind the other. */
  | { readonly type: "sheet"; readonly job: SheetJob; readonly data: Uint8Array };

/** Child to parent. */
export type FromChild =
  | { readonly type: "ready"; readonly rungs: readonly ReadyRung[] }
  | {
      readonly type: "packet";
      readonly rung: number;
      readonly isIndependent: boolean;
      readonly isFirstOfSegment: boolean;
      readonly msn: number;
      readonly dts: number;
      readonly pts: number;
      /** NAL units behind 4-byte lengths. */
      readonly data: Uint8Array;
    }
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
  /** `config` is base64 of the AudioSpecificConfig; empty for Opus. */
  | { readonly type: "audio-ready"; readonly config: string }
  /** One converted audio frame. */
  | { readonly type: "audio"; readonly pts: number; readonly data: Uint8Array }
  /** What that job of a still, a sheet or a preview makes; empty where nothing can be decoded. */
  | { readonly type: "still"; readonly id: number; readonly data: Uint8Array }
  | {
      readonly type: "error";
      readonly code: TranscodeErrorCode;
      /** A sentence for a person. */
      readonly message: string;
      /** The child ends after it. */
      readonly isFatal: boolean;
    };

const TO_CHILD = {
  start: 1,
  packet: 2,
  cut: 3,
  "skip-until": 4,
  flush: 5,
  "start-audio": 6,
  audio: 7,
  still: 8,
  sheet: 9,
  "start-preview": 10,
  rungs: 11,
} as const;
const FROM_CHILD = {
  ...{ ready: 65, packet: 66, flushed: 67, progress: 68, error: 69, loaded: 70 },
  ...{ "audio-ready": 71, audio: 72, still: 73, dropped: 74 },
} as const;

/** The frame of one message, in a buffer of its own. */
export function frameToChild(message: ToChild): Uint8Array {
  const type = TO_CHILD[message.type];
  switch (message.type) {
    case "start":
    case "start-audio":
    case "start-preview":
      return jsonFrame(type, message.start);
    case "rungs":
      return jsonFrame(type, message.rungs);
    case "audio":
      return audioFrame(type, message);
    case "still":
    case "sheet": {
      const job = Buffer.from(JSON.stringify(message.job));
      const frame = new FrameWriter(type, 4 + job.length + message.data.length);
      frame.uint32(job.length);
      frame.bytes(job);
      return frame.end(message.data);
    }
    case "packet": {
      const frame = new FrameWriter(type, 17 + message.data.length);
      frame.uint8(message.isIndependent ? 1 : 0);
      frame.float64(message.dts);
      frame.float64(message.pts);
      return frame.end(message.data);
    }
    case "cut": {
      const frame = new FrameWriter(type, 12);
      frame.uint32(message.msn);
      frame.float64(message.ticks);
      return frame.end();
    }
    case "skip-until": {
      const frame = new FrameWriter(type, 8);
      frame.float64(message.ticks);
      return frame.end();
    }
    case "flush": {
      const frame = new FrameWriter(type, 4);
      frame.uint32(message.id);
      return frame.end();
    }
  }
}

/** The frame of one message, in a buffer of its own. */
export function frameFromChild(message: FromChild): Uint8Array {
  const type = FROM_CHILD[message.type];
  switch (message.type) {
    case "ready":
    case "dropped":
      return jsonFrame(type, message.rungs);
    case "audio-ready":
      return jsonFrame(type, { config: message.config });
    case "audio":
      return audioFrame(type, message);
    case "still": {
      const frame = new FrameWriter(type, 4 + message.data.length);
      frame.uint32(message.id);
      return frame.end(message.data);
    }
    case "packet": {
      const frame = new FrameWriter(type, 22 + message.data.length);
      frame.uint8(message.rung);
      frame.uint8((message.isIndependent ? 1 : 0) | (message.isFirstOfSegment ? 2 : 0));
      frame.uint32(message.msn);
      frame.float64(message.dts);
      frame.float64(message.pts);
      return frame.end(message.data);
    }
    case "flushed": {
      const frame = new FrameWriter(type, 4);
      frame.uint32(message.id);
      return frame.end();
    }
    case "progress": {
      const frame = new FrameWriter(type, 12);
      frame.uint32(message.packets);
      frame.float64(message.busyMs);
      return frame.end();
    }
    case "loaded":
      return new FrameWriter(type, 0).end();
    case "error": {
      const { code, message: sentence, isFatal } = message;
      return jsonFrame(type, { code, message: sentence, isFatal });
    }
  }
}

/** Takes what the child's input pipe brings, in pieces of any size, and returns the whole messages in it. Throws on bytes that are no frame. */
export function toChildReader(): (bytes: Uint8Array) => ToChild[] {
  return frameReader(readToChild);
}

/** Takes what the child's output pipe brings, in pieces of any size, and returns the whole messages in it. Throws on bytes that are no frame. */
export function fromChildReader(): (bytes: Uint8Array) => FromChild[] {
  return frameReader(readFromChild);
}

function readToChild(body: Buffer): ToChild {
  switch (body[0]) {
    case TO_CHILD.start:
      return { type: "start", start: JSON.parse(body.toString("utf8", 1)) };
    case TO_CHILD.rungs:
      return { type: "rungs", rungs: JSON.parse(body.toString("utf8", 1)) };
    case TO_CHILD.packet:
      return {
        type: "packet",
        isIndependent: (body.readUInt8(1) & 1) !== 0,
        dts: body.readDoubleBE(2),
        pts: body.readDoubleBE(10),
        data: body.subarray(18),
      };
    case TO_CHILD.cut:
      return { type: "cut", msn: body.readUInt32BE(1), ticks: body.readDoubleBE(5) };
    case TO_CHILD["skip-until"]:
      return { type: "skip-until", ticks: body.readDoubleBE(1) };
    case TO_CHILD.flush:
      return { type: "flush", id: body.readUInt32BE(1) };
    case TO_CHILD["start-audio"]:
      return { type: "start-audio", start: JSON.parse(body.toString("utf8", 1)) };
    case TO_CHILD["start-preview"]:
      return { type: "start-preview", start: JSON.parse(body.toString("utf8", 1)) };
    case TO_CHILD.audio:
      return { type: "audio", pts: body.readDoubleBE(1), data: body.subarray(9) };
    case TO_CHILD.still:
    case TO_CHILD.sheet: {
      const end = 5 + body.readUInt32BE(1);
      const type = body[0] === TO_CHILD.still ? "still" : "sheet";
      return { type, job: JSON.parse(body.toString("utf8", 5, end)), data: body.subarray(end) };
    }
    default:
      throw unknownType(body);
  }
}

function readFromChild(body: Buffer): FromChild {
  switch (body[0]) {
    case FROM_CHILD.ready:
      return { type: "ready", rungs: JSON.parse(body.toString("utf8", 1)) };
    case FROM_CHILD.dropped:
      return { type: "dropped", rungs: JSON.parse(body.toString("utf8", 1)) };
    case FROM_CHILD.packet: {
      const flags = body.readUInt8(2);
      return {
        type: "packet",
        rung: body.readUInt8(1),
        isIndependent: (flags & 1) !== 0,
        isFirstOfSegment: (flags & 2) !== 0,
        msn: body.readUInt32BE(3),
        dts: body.readDoubleBE(7),
        pts: body.readDoubleBE(15),
        data: body.subarray(23),
      };
    }
    case FROM_CHILD.flushed:
      return { type: "flushed", id: body.readUInt32BE(1) };
    case FROM_CHILD.progress:
      return { type: "progress", packets: body.readUInt32BE(1), busyMs: body.readDoubleBE(5) };
    case FROM_CHILD.loaded:
      return { type: "loaded" };
    case FROM_CHILD["audio-ready"]:
      return { type: "audio-ready", ...JSON.parse(body.toString("utf8", 1)) };
    case FROM_CHILD.audio:
      return { type: "audio", pts: body.readDoubleBE(1), data: body.subarray(9) };
    case FROM_CHILD.still:
      return { type: "still", id: body.readUInt32BE(1), data: body.subarray(5) };
    case FROM_CHILD.error:
      return { type: "error", ...JSON.parse(body.toString("utf8", 1)) };
    default:
      throw unknownType(body);
  }
}

function audioFrame(type: number, { pts, data }: { readonly pts: number; readonly data: Uint8Array }): Uint8Array {
  const frame = new FrameWriter(type, 8 + data.length);
  frame.float64(pts);
  return frame.end(data);
}

function unknownType(body: Buffer): RangeError {
  return new RangeError(`a frame of unknown type ${body[0]} in the transcode pipe`);
}
