import type { Chance } from "../../apps/server/test/support/chance.ts";
import { MAX_INPUT_BYTES } from "./fuzz-target.ts";

/** Values that lengths, counts and times break at. */
const EDGES = [0, 1, 2, 7, 8, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0xff_ffff, 0x7fff_ffff, 0xffff_ffff];
const MAX_CHANGES = 6;
const MAX_PIECE = 64;

type Change = (
  bytes: Uint8Array,
  chance: Chance,
  others: readonly Uint8Array[],
  words: readonly Uint8Array[],
) => Uint8Array;

const CHANGES: readonly Change[] = [
  flipBit,
  setByte,
  setByte,
  setNumber,
  setNumber,
  removePiece,
  repeatPiece,
  insertBytes,
  insertWord,
  insertWord,
  joinOther,
  cutEnd,
];

/** A changed copy of one of `inputs`, of at most `MAX_INPUT_BYTES`. */
export function mutated(inputs: readonly Uint8Array[], words: readonly Uint8Array[], chance: Chance): Uint8Array {
  let bytes: Uint8Array = chance.of(inputs).slice(0, MAX_INPUT_BYTES);
  for (let changes = 1 + chance.below(MAX_CHANGES); changes > 0; changes--)
    bytes = chance.of(CHANGES)(bytes, chance, inputs, words);
  return bytes.subarray(0, MAX_INPUT_BYTES);
}

function flipBit(bytes: Uint8Array, chance: Chance): Uint8Array {
  const at = chance.below(bytes.length);
  if (bytes.length > 0) bytes[at] = (bytes[at] ?? 0) ^ (1 << chance.below(8));
  return bytes;
}

function setByte(bytes: Uint8Array, chance: Chance): Uint8Array {
  if (bytes.length > 0)
    bytes[chance.below(bytes.length)] = chance.below(2) === 0 ? chance.of(EDGES) : chance.below(256);
  return bytes;
}

/** A number of two or four bytes, big-endian. */
function setNumber(bytes: Uint8Array, chance: Chance): Uint8Array {
  const width = chance.of([2, 4]);
  if (bytes.length < width) return bytes;
  const at = chance.below(bytes.length - width + 1);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const value = chance.of([chance.of(EDGES), bytes.length, bytes.length - at, chance.below(bytes.length)]);
  if (width === 2) view.setUint16(at, value & 0xffff);
  else view.setUint32(at, value);
  return bytes;
}

function removePiece(bytes: Uint8Array, chance: Chance): Uint8Array {
  const [from, to] = piece(bytes, chance);
  return joined(bytes.subarray(0, from), bytes.subarray(to));
}

function repeatPiece(bytes: Uint8Array, chance: Chance): Uint8Array {
  const [from, to] = piece(bytes, chance);
  const times = chance.of([1, 1, 1, 2, 20]);
  return joined(
    bytes.subarray(0, to),
    ...Array.from({ length: times }, () => bytes.subarray(from, to)),
    bytes.subarray(to),
  );
}

function insertBytes(bytes: Uint8Array, chance: Chance): Uint8Array {
  return insert(
    bytes,
    Uint8Array.from({ length: 1 + chance.below(8) }, () => chance.below(256)),
    chance,
  );
}

function insertWord(
  bytes: Uint8Array,
  chance: Chance,
  _others: readonly Uint8Array[],
  words: readonly Uint8Array[],
): Uint8Array {
  return words.length === 0 ? setNumber(bytes, chance) : insert(bytes, chance.of(words), chance);
}

function joinOther(bytes: Uint8Array, chance: Chance, others: readonly Uint8Array[]): Uint8Array {
  const other = chance.of(others);
  return joined(bytes.subarray(0, chance.below(bytes.length + 1)), other.subarray(chance.below(other.length + 1)));
}

function cutEnd(bytes: Uint8Array, chance: Chance): Uint8Array {
  return bytes.slice(0, chance.below(bytes.length + 1));
}

function insert(bytes: Uint8Array, more: Uint8Array, chance: Chance): Uint8Array {
  const at = chance.below(bytes.length + 1);
  return joined(bytes.subarray(0, at), more, bytes.subarray(at));
}

function piece(bytes: Uint8Array, chance: Chance): readonly [from: number, to: number] {
  const from = chance.below(bytes.length + 1);
  return [from, Math.min(bytes.length, from + 1 + chance.below(MAX_PIECE))];
}

function joined(...pieces: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(pieces));
}
