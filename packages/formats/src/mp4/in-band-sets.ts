import { avcParameterSets, hevcParameterSets } from "../codecs/index.ts";
import { ascii, concat, uint32 } from "./box.ts";

const HEADER = 8;
/** Of a sample entry of pictures, whose first box is the decoder configuration (ISO/IEC 14496-12 12.1.3). */
const CONFIG_AT = 86;
/** The type of a sample entry when parameter sets may stand in its samples too (ISO/IEC 14496-15 5.4.2.1, 8.4.1). */
const IN_BAND = { avc1: "avc3", hvc1: "hev1" } as const;

/** The sample entry for a track whose samples carry parameter sets. One of AV1, whose keyframes always do, stays as it is. */
export function inBandEntry(sampleEntry: Uint8Array): Uint8Array {
  const type = entryType(sampleEntry);
  if (!isOutOfBand(type)) return sampleEntry;
  const entry = new Uint8Array(sampleEntry);
  entry.set(ascii(IN_BAND[type]), 4);
  return entry;
}

/** The parameter sets of a sample entry as NAL units behind 4-byte lengths, to stand before a sample; none for AV1 and sound. */
export function parameterSetsOf(sampleEntry: Uint8Array): Uint8Array {
  const type = entryType(sampleEntry);
  if (!isOutOfBand(type)) return new Uint8Array();
  const config = decoderConfigOf(sampleEntry);
  const units = type === "avc1" ? avcUnits(config) : hevcParameterSets(config);
  return concat(units.flatMap((unit) => [uint32(unit.byteLength), unit]));
}

/** The body of `avcC`, `hvcC` or `av1C` in a sample entry of pictures. */
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
