import { avcParameterSets, hevcParameterSets } from "../codecs/index.ts";
import { ascii, concat, uint32 } from "./box.ts";

const HEADER = 8;
/** Offset of the first box in a visual sample entry: the decoder configuration (ISO/IEC 14496-12 12.1.3). */
const CONFIG_AT = 86;
/** Sample entry types that allow parameter sets in the samples too (ISO/IEC 14496-15 5.4.2.1, 8.4.1). */
const IN_BAND = { avc1: "avc3", hvc1: "hev1" } as const;

/**
 * The sample entry of a track whose samples carry parameter sets. An AV1 entry is returned unchanged: AV1 keyframes always carry their sequence
 * header.
 */
export function inBandEntry(sampleEntry: Uint8Array): Uint8Array {
  const type = entryType(sampleEntry);
  if (!isOutOfBand(type)) return sampleEntry;
  const entry = new Uint8Array(sampleEntry);
  entry.set(ascii(IN_BAND[type]), 4);
  return entry;
}

/** The parameter sets of a sample entry as NAL units with 4-byte lengths, to be put before a sample. Empty for AV1 and audio. */
export function parameterSetsOf(sampleEntry: Uint8Array): Uint8Array {
  const type = entryType(sampleEntry);
  if (!isOutOfBand(type)) return new Uint8Array();
  const config = decoderConfigOf(sampleEntry);
  const units = type === "avc1" ? avcUnits(config) : hevcParameterSets(config);
  return concat(units.flatMap((unit) => [uint32(unit.byteLength), unit]));
}

/** The body of `avcC`, `hvcC` or `av1C` in a visual sample entry. */
export function decoderConfigOf(sampleEntry: Uint8Array): Uint8Array {
  const view = new DataView(sampleEntry.buffer, sampleEntry.byteOffset, sampleEntry.byteLength);
  return sampleEntry.subarray(CONFIG_AT + HEADER, CONFIG_AT + view.getUint32(CONFIG_AT));
}

export function entryType(sampleEntry: Uint8Array): string {
  return String.fromCharCode(...sampleEntry.subarray(4, HEADER));
}

function avcUnits(avcC: Uint8Array): Uint8Array[] {
  const { sps, pps } = avcParameterSets(avcC);
  return [...sps, ...pps];
}

function isOutOfBand(type: string): type is keyof typeof IN_BAND {
  return type in IN_BAND;
}
