import { FormatError } from "../bits/index.ts";
import { boxesIn, boxIn, viewWithin } from "./source-boxes.ts";

/** What a track of a foreign file holds. `config`: body of `avcC`, `hvcC`, `av1C`, an AudioSpecificConfig, or body of `dOps`. */
export type SourceFormat =
  | { readonly kind: "video"; readonly codec: "avc" | "hevc" | "av1"; readonly config: Uint8Array }
  | { readonly kind: "audio"; readonly codec: "aac"; readonly config: Uint8Array }
  | {
      readonly kind: "audio";
      readonly codec: "opus" | "ac3" | "eac3";
      readonly channels: number;
      readonly sampleRate: number;
    }
  | { readonly kind: "video" | "audio"; readonly codec: null; readonly name: string };

const VIDEO: Readonly<Record<string, readonly [codec: "avc" | "hevc" | "av1", config: string]>> = {
  ...{ avc1: ["avc", "avcC"], avc3: ["avc", "avcC"] },
  ...{ hvc1: ["hevc", "hvcC"], hev1: ["hevc", "hvcC"] },
  av01: ["av1", "av1C"],
};
const CONVERTED: Readonly<Record<string, "opus" | "ac3" | "eac3">> = { Opus: "opus", "ac-3": "ac3", "ec-3": "eac3" };
/** Others are not named: nothing of what a source sends is shown. */
const NAMES: Readonly<Record<string, string>> = {
  ...{ vp08: "VP8", vp09: "VP9", mp4v: "MPEG-4 part 2", jpeg: "Motion JPEG", apcn: "ProRes", apch: "ProRes" },
  ...{ dvh1: "Dolby Vision", dvhe: "Dolby Vision", encv: "encrypted", enca: "encrypted" },
  ...{ fLaC: "FLAC", alac: "ALAC", ".mp3": "MP3", sowt: "PCM", twos: "PCM", lpcm: "PCM", ipcm: "PCM" },
};
/** Objects of an ES descriptor (ISO/IEC 14496-1 7.2.6.6). */
const [AAC, AAC_MAIN, AAC_SSR, MP3_2, MP3_1] = [0x40, 0x66, 0x68, 0x69, 0x6b];
/** ISO/IEC 14496-12 12.1.3 and 12.2.3: before the boxes of an entry. */
const VIDEO_FIELDS = 78;
const AUDIO_FIELDS = 28;
/** Of QuickTime's longer entries, by version. */
const MORE_AUDIO_FIELDS = [0, 16, 36];

/** The first sample entry of an `stsd`. Throws `FormatError`. */
export function readEntry(stsd: DataView, kind: "video" | "audio"): SourceFormat {
  const [entry] = boxesIn(viewWithin(stsd, Math.min(8, stsd.byteLength), stsd.byteLength));
  if (!entry) throw new FormatError("a sample entry", 0);
  return kind === "video" ? videoEntry(entry.type, entry.body) : audioEntry(entry.type, entry.body);
}

const nameOf = (type: string): string => NAMES[type] ?? "an unknown codec for";

function videoEntry(type: string, body: DataView): SourceFormat {
  const [codec, configBox] = VIDEO[type] ?? [];
  if (!codec || configBox === undefined) return { kind: "video", codec: null, name: nameOf(type) };
  const config = boxIn(viewWithin(body, VIDEO_FIELDS, body.byteLength), configBox);
  if (!config) throw new FormatError(`a box ${configBox}`, 0);
  return { kind: "video", codec, config: copyOf(config) };
}

function audioEntry(type: string, body: DataView): SourceFormat {
  if (body.byteLength < AUDIO_FIELDS) throw new FormatError("an audio sample entry", 0);
  const version = body.getUint16(8);
  const [channels, sampleRate] = [body.getUint16(16), body.getUint16(24)];
  const converted = CONVERTED[type];
  if (converted) return { kind: "audio", codec: converted, channels, sampleRate: sampleRate || 48_000 };
  if (type !== "mp4a") return { kind: "audio", codec: null, name: nameOf(type) };
  const boxes = viewWithin(body, AUDIO_FIELDS + (MORE_AUDIO_FIELDS[version] ?? 0), body.byteLength);
  const descriptor = boxIn(boxes, "esds") ?? boxIn(boxes, "wave", "esds");
  if (!descriptor) throw new FormatError("a box esds", 0);
  return elementaryStream(descriptor);
}

/** ISO/IEC 14496-1 7.2.6: an ES descriptor with the decoder's, which has the configuration. */
function elementaryStream(esds: DataView): SourceFormat {
  const stream = descriptorAt(esds, 4, 3);
  // After the id: a flag each for dependence, an address and a clock.
  const flags = stream.getUint8(2);
  let at = 3 + (flags & 0x80 ? 2 : 0);
  if (flags & 0x40) at += 1 + stream.getUint8(at);
  if (flags & 0x20) at += 2;
  const decoder = descriptorAt(stream, at, 4);
  const object = decoder.getUint8(0);
  if (object === MP3_1 || object === MP3_2) return { kind: "audio", codec: null, name: "MP3" };
  if (object !== AAC && (object < AAC_MAIN || object > AAC_SSR))
    return { kind: "audio", codec: null, name: nameOf("") };
  return { kind: "audio", codec: "aac", config: copyOf(descriptorAt(decoder, 13, 5)) };
}

/** The body of the descriptor with this tag at `at`, or behind others there. Throws `FormatError`. */
function descriptorAt(bytes: DataView, from: number, tag: number): DataView {
  for (let at = from; at + 2 <= bytes.byteLength; ) {
    const found = bytes.getUint8(at++);
    let length = 0;
    for (let i = 0; i < 4 && at < bytes.byteLength; i++) {
      const byte = bytes.getUint8(at++);
      length = length * 128 + (byte & 0x7f);
      if (byte < 0x80) break;
    }
    if (found === tag) {
      const body = viewWithin(bytes, at, at + length);
      if (body.byteLength < (tag === 5 ? 2 : tag === 4 ? 13 : 3)) break;
      return body;
    }
    at += length;
  }
  throw new FormatError(`a descriptor ${tag}`, from);
}

export const copyOf = (view: DataView): Uint8Array =>
  new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice();
