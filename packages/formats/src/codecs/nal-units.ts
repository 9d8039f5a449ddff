import { FormatError } from "../bits/index.ts";

/** Removes the emulation prevention bytes of a NAL unit: `00 00 03` becomes `00 00` (ITU-T H.264 7.3.1, H.265 7.3.1.1). */
export function withoutEmulationPrevention(nal: Uint8Array): Uint8Array {
  const payload = new Uint8Array(nal.length);
  let length = 0;
  let zeros = 0;
  for (const byte of nal) {
    if (zeros >= 2 && byte === 3) {
      zeros = 0;
      continue;
    }
    zeros = byte === 0 ? zeros + 1 : 0;
    payload[length++] = byte;
  }
  return payload.subarray(0, length);
}

/** Adds them: `00 00` before a byte of 0 to 3 becomes `00 00 03` (ITU-T H.264 7.4.1). */
export function withEmulationPrevention(nal: Uint8Array): Uint8Array {
  // One in three bytes at most.
  const bytes = new Uint8Array(Math.ceil((nal.length * 3) / 2));
  let [length, zeros] = [0, 0];
  for (const byte of nal) {
    if (zeros >= 2 && byte <= 3) {
      bytes[length++] = 3;
      zeros = 0;
    }
    zeros = byte === 0 ? zeros + 1 : 0;
    bytes[length++] = byte;
  }
  return bytes.slice(0, length);
}

/** Converts NAL units with start codes (H.264 annex B) to 4-byte lengths, in a new buffer. Bytes before the first start code are dropped. */
export function annexBToLengthPrefixed(bytes: Uint8Array): Uint8Array {
  return lengthPrefixed(annexBUnits(bytes));
}

/** The NAL units between start codes (H.264 annex B), as views into `bytes`. Bytes before the first start code are dropped. */
export function annexBUnits(bytes: Uint8Array): Uint8Array[] {
  const units: Uint8Array[] = [];
  for (let start = nextStartCode(bytes, 0) + 3; start < bytes.length; ) {
    const next = nextStartCode(bytes, start);
    let end = next;
    // trailing_zero_8bits and the zero_byte of a 4-byte start code belong to no NAL unit: a NAL unit never ends in 00.
    while (end > start && bytes[end - 1] === 0) end--;
    if (end > start) units.push(bytes.subarray(start, end));
    start = next + 3;
  }
  return units;
}

/** NAL units behind lengths of 4 bytes, as views. Stops at a length that exceeds the data. */
export function* unitsOfFourByteLengths(accessUnit: Uint8Array): Generator<Uint8Array, void> {
  const view = new DataView(accessUnit.buffer, accessUnit.byteOffset, accessUnit.byteLength);
  for (let offset = 0; offset + 4 < accessUnit.length; ) {
    const end = offset + 4 + view.getUint32(offset);
    yield accessUnit.subarray(offset + 4, end);
    offset = end;
  }
}

/** Joins NAL units, each with its length in 4 bytes. */
export function lengthPrefixed(units: readonly Uint8Array[]): Uint8Array {
  return join(units, (view, offset, length) => view.setUint32(offset, length));
}

/**
 * Converts NAL units with lengths of `lengthSize` bytes to 4-byte start codes, in a new buffer. Throws `FormatError` for a length that exceeds the
 * data.
 */
export function lengthPrefixedToAnnexB(bytes: Uint8Array, lengthSize = 4): Uint8Array {
  const units: Uint8Array[] = [];
  for (let offset = 0; offset < bytes.length; ) {
    const start = offset + lengthSize;
    let length = 0;
    for (let i = offset; i < start; i++) length = length * 256 + (bytes[i] ?? 0);
    if (start + length > bytes.length) throw new FormatError("a NAL unit length that fits the access unit", offset);
    if (length > 0) units.push(bytes.subarray(start, start + length));
    offset = start + length;
  }
  return join(units, (view, offset) => view.setUint32(offset, 1));
}

/** Index of the next `00 00 01`, or the length of `bytes`. Looks at every third byte of most media, which is faster than to search for each 1. */
function nextStartCode(bytes: Uint8Array, from: number): number {
  for (let at = from + 2; at < bytes.length; ) {
    const byte = bytes[at] ?? 0;
    if (byte === 1 && bytes[at - 1] === 0 && bytes[at - 2] === 0) return at - 2;
    // No start code ends in the next two bytes either, unless this one is one of its zeros.
    at += byte === 0 ? 1 : 3;
  }
  return bytes.length;
}

function join(
  units: readonly Uint8Array[],
  writePrefix: (view: DataView, offset: number, length: number) => void,
): Uint8Array {
  const bytes = new Uint8Array(units.reduce((total, unit) => total + 4 + unit.length, 0));
  const view = new DataView(bytes.buffer);
  let offset = 0;
  for (const unit of units) {
    writePrefix(view, offset, unit.length);
    bytes.set(unit, offset + 4);
    offset += 4 + unit.length;
  }
  return bytes;
}
