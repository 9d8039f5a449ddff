import { FormatError } from "../bits/index.ts";
import { fourCcAt, skipModEx } from "./enhanced.ts";

/** The header of a video message. `codec` is a FourCC, or `flv-{id}` for a legacy codec without one. */
export interface VideoTag {
  readonly codec: string;
  readonly content: "config" | "frame" | "other";
  readonly isKeyframe: boolean;
  /** Milliseconds from decoding to presentation. */
  readonly compositionTime: number;
  readonly dataOffset: number;
  readonly dataEnd: number;
}

const KEYFRAME = 1;
const COMMAND_FRAME = 5;
const LEGACY_CODECS: Readonly<Record<number, string>> = { 7: "avc1", 12: "hvc1" };

// Enhanced RTMP v2, "Enhanced Video": VideoPacketType.
const SEQUENCE_START = 0;
const CODED_FRAMES = 1;
const CODED_FRAMES_X = 3;
const MULTITRACK = 6;
const MOD_EX = 7;
const ONE_TRACK = 0;
const MANY_CODECS = 2;

/** Reads the header of a video message in place: legacy FLV or Enhanced RTMP. Of several tracks it reads the one with id 0. Throws `FormatError`. */
export function readVideoTag(payload: Uint8Array): VideoTag {
  const first = byteAt(payload, 0);
  if ((first & 0x80) !== 0) return readEnhanced(payload, (first >> 4) & 7, first & 0x0f);
  const frameType = first >> 4;
  const codec = LEGACY_CODECS[first & 0x0f];
  const end = payload.byteLength;
  if (frameType === COMMAND_FRAME || codec === undefined) {
    return tag(codec ?? `flv-${first & 0x0f}`, "other", frameType === KEYFRAME, 0, 1, end);
  }
  const packetType = byteAt(payload, 1);
  const content = packetType === 0 ? "config" : packetType === 1 ? "frame" : "other";
  return tag(codec, content, frameType === KEYFRAME, int24At(payload, 2), 5, end);
}

function readEnhanced(payload: Uint8Array, frameType: number, firstType: number): VideoTag {
  let at = 1;
  let packetType = firstType;
  while (packetType === MOD_EX) ({ at, packetType } = skipModEx(payload, at));
  if (frameType === COMMAND_FRAME && packetType !== SEQUENCE_START)
    return tag("", "other", false, 0, at, payload.byteLength);
  let end = payload.byteLength;
  let codec: string;
  if (packetType === MULTITRACK) {
    const kinds = byteAt(payload, at++);
    packetType = kinds & 0x0f;
    const track = findTrackZero(payload, at, kinds >> 4);
    if (!track) return tag("", "other", false, 0, at, end);
    ({ codec, at, end } = track);
  } else {
    codec = fourCcAt(payload, at);
    at += 4;
  }
  const isKeyframe = frameType === KEYFRAME;
  if (packetType === SEQUENCE_START) return tag(codec, "config", isKeyframe, 0, at, end);
  if (packetType === CODED_FRAMES_X) return tag(codec, "frame", isKeyframe, 0, at, end);
  if (packetType !== CODED_FRAMES) return tag(codec, "other", isKeyframe, 0, at, end);
  if (codec !== "avc1" && codec !== "hvc1") return tag(codec, "frame", isKeyframe, 0, at, end);
  return tag(codec, "frame", isKeyframe, int24At(payload, at), at + 3, end);
}

function findTrackZero(
  payload: Uint8Array,
  from: number,
  kind: number,
): { codec: string; at: number; end: number } | null {
  let at = from;
  let codec = "";
  if (kind !== MANY_CODECS) {
    codec = fourCcAt(payload, at);
    at += 4;
  }
  while (at < payload.byteLength) {
    if (kind === MANY_CODECS) {
      codec = fourCcAt(payload, at);
      at += 4;
    }
    const id = byteAt(payload, at++);
    let size = payload.byteLength - at;
    if (kind !== ONE_TRACK) {
      size = (byteAt(payload, at) << 16) | (byteAt(payload, at + 1) << 8) | byteAt(payload, at + 2);
      at += 3;
    }
    if (at + size > payload.byteLength) throw new FormatError("a track inside its message", at);
    if (id === 0) return { codec, at, end: at + size };
    at += size;
  }
  return null;
}

function tag(
  codec: string,
  content: VideoTag["content"],
  isKeyframe: boolean,
  compositionTime: number,
  dataOffset: number,
  dataEnd: number,
): VideoTag {
  return { codec, content, isKeyframe, compositionTime, dataOffset, dataEnd };
}

function byteAt(payload: Uint8Array, at: number): number {
  const byte = payload[at];
  if (byte === undefined) throw new FormatError("more of a video tag header", at);
  return byte;
}

function int24At(payload: Uint8Array, at: number): number {
  const value = (byteAt(payload, at) << 16) | (byteAt(payload, at + 1) << 8) | byteAt(payload, at + 2);
  return (value << 8) >> 8;
}
