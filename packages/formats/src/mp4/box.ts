/** Boxes and descriptors as nested calls, for init segments, which are written once. Fragments are written constantly and have their own writer. */

/** `size type contents…` (ISO/IEC 14496-12 4.2). */
export function box(type: string, ...contents: readonly Uint8Array[]): Uint8Array {
  const body = concat(contents);
  return concat([uint32(8 + body.length), ascii(type), body]);
}

/** A box whose contents follow its version and flags. */
export function fullBox(type: string, version: number, flags: number, ...contents: readonly Uint8Array[]): Uint8Array {
  return box(type, uint32(version * 0x100_0000 + flags), ...contents);
}

/** `tag length contents…` of an MPEG-4 descriptor, with the length in four groups of seven bits (ISO/IEC 14496-1 8.3.3). */
export function descriptor(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  const body = concat(contents);
  const length = [21, 14, 7, 0].map((shift) => ((body.length >> shift) & 0x7f) | (shift > 0 ? 0x80 : 0));
  return concat([Uint8Array.of(tag, ...length), body]);
}

export function uint16(...values: readonly number[]): Uint8Array {
  return numbers(values, 2, (view, offset, value) => view.setUint16(offset, value));
}

export function uint32(...values: readonly number[]): Uint8Array {
  return numbers(values, 4, (view, offset, value) => view.setUint32(offset, value));
}

export function uint64(...values: readonly number[]): Uint8Array {
  return numbers(values, 8, (view, offset, value) => view.setBigUint64(offset, BigInt(value)));
}

export function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

export function zeros(count: number): Uint8Array {
  return new Uint8Array(count);
}

export function concat(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((total, piece) => total + piece.length, 0));
  let offset = 0;
  for (const piece of pieces) {
    bytes.set(piece, offset);
    offset += piece.length;
  }
  return bytes;
}

function numbers(
  values: readonly number[],
  width: number,
  write: (view: DataView, offset: number, value: number) => void,
): Uint8Array {
  const view = new DataView(new ArrayBuffer(values.length * width));
  values.forEach((value, index) => {
    write(view, index * width, value);
  });
  return new Uint8Array(view.buffer);
}
