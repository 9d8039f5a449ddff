import { holds } from "./fuzz-target.ts";

export interface PieceReader {
  push(bytes: Uint8Array): void;
  /** What was read, a line each. */
  readonly read: readonly string[];
}

const PIECE_BYTES = 7;

/** Reads an input whole, and again in pieces of seven bytes: the network cuts where it likes. Throws what the reader throws, or a finding if the two differ. */
export function readInPieces(input: Uint8Array, newReader: () => PieceReader): void {
  const [whole, cut] = [newReader(), newReader()];
  const failure = failureOf(() => whole.push(input.slice()));
  const cutFailure = failureOf(() => {
    for (let at = 0; at < input.length; at += PIECE_BYTES) cut.push(input.slice(at, at + PIECE_BYTES));
  });
  if (failure !== null) throw failure;
  if (cutFailure !== null) throw cutFailure;
  holds(whole.read.join("\n") === cut.read.join("\n"), "the same is read, wherever the network cuts");
}

function failureOf(work: () => void): unknown {
  try {
    work();
    return null;
  } catch (error) {
    return error;
  }
}
