import { FormatError } from "../bits/index.ts";
import { fourCcAt, skipModEx } from "./enhanced.ts";

/** The header of an audio message. `codec` is a FourCC, or the FLV name of a legacy format without one. */
export interface AudioTag {
  readonly codec: string;
  readonly content: "config" | "frame" | "other";
  readonly dataOffset: number;
}

const ENHANCED = 9;
const AAC = 10;
const LEGACY_NAMES: Readonly<Record<number, string>> = {
  0: "PCM",
  1: "ADPCM",
  2: "MP3",
  3: "PCM",
  4: "Nellymoser",
  5: "Nellymoser",
  6: "Nellymoser",
  7: "G.711",
  8: "G.711",
  11: "Speex",
  14: "MP3",
};

// Enhanced RTMP v2, "Enhanced Audio": AudioPacketType.
const SEQUENCE_START = 0;
const CODED_FRAMES = 1;
const MULTITRACK = 5;
const MOD_EX = 7;

/** Reads the header of an audio message in place: legacy FLV, or Enhanced RTMP with one track. Throws `FormatError`. */
export function readAudioTag(payload: Uint8Array): AudioTag {
  const first = payload[0];
  if (first === undefined) throw new FormatError("an audio tag header", 0);
  const format = first >> 4;
  if (format === AAC) {
    const packetType = payload[1];
    if (packetType === undefined) throw new FormatError("an AAC packet type", 1);
    return {
      codec: "mp4a",
      content: packetType === 0 ? "config" : packetType === 1 ? "frame" : "other",
      dataOffset: 2,
    };
  }
  if (format !== ENHANCED)
    return { codec: LEGACY_NAMES[format] ?? `audio format ${format}`, content: "frame", dataOffset: 1 };
  let at = 1;
  let packetType = first & 0x0f;
  while (packetType === MOD_EX) ({ at, packetType } = skipModEx(payload, at));
  if (packetType === MULTITRACK) return { codec: "multitrack", content: "other", dataOffset: at };
  const codec = fourCcAt(payload, at);
  const content = packetType === SEQUENCE_START ? "config" : packetType === CODED_FRAMES ? "frame" : "other";
  return { codec, content, dataOffset: at + 4 };
}
