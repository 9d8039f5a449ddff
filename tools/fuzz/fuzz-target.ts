import { FormatError } from "@weir/formats/bits";

/** A reader of bytes that strangers send. */
export interface FuzzTarget {
  readonly name: string;
  /** Inputs that the reader accepts; others are made from them. */
  readonly seeds: readonly Uint8Array[];
  /** Words of the format, which a mutation puts anywhere. */
  readonly words?: readonly string[];
  /** Reads an input whole. Throws what its users expect of it, or an error that is a finding. */
  read(input: Uint8Array): void;
  /** Errors that the reader's users expect, besides `FormatError`. */
  readonly refusals?: readonly (abstract new (
    ...args: never[]
  ) => Error)[];
}

/** Longer inputs are cut: what a reader does with them, it does with shorter ones. */
export const MAX_INPUT_BYTES = 16 * 1024;

/** A finding: the reader threw what nobody expects, or what it gave out was wrong. */
export class Finding extends Error {}

/** Reads an input, and throws only what is a finding. */
export function tryInput(target: FuzzTarget, input: Uint8Array): void {
  try {
    target.read(input);
  } catch (error) {
    const expected = [FormatError, ...(target.refusals ?? [])];
    if (!expected.some((kind) => error instanceof kind)) throw error;
  }
}

/** Throws a `Finding` if `is` is false. */
export function holds(is: boolean, claim: string): void {
  if (!is) throw new Finding(`does not hold: ${claim}`);
}

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
/** Every byte is a character, as in the head of an HTTP or RTSP message. */
export const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");
