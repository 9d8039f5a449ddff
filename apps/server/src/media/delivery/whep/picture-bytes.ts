import { avcParameterSets, lengthPrefixed } from "@weir/formats/codecs";

/** The parameter sets of a track, which WebRTC expects before each IDR. */
export function parameterSetsOf(config: Uint8Array): Uint8Array {
  const { sps, pps } = avcParameterSets(config);
  return lengthPrefixed([...sps, ...pps]);
}

/** A picture, with the parameter sets if it is independent. */
export function pictureBytes(sets: Uint8Array, isIndependent: boolean, picture: Uint8Array): Uint8Array {
  if (!isIndependent) return picture;
  const bytes = new Uint8Array(sets.length + picture.length);
  bytes.set(sets);
  bytes.set(picture, sets.length);
  return bytes;
}
