import { FormatError } from "@weir/formats/bits";
import type { PublishRefusal } from "../../ports/index.ts";

/** Why a connection is not allowed to publish. Each ingest translates the cause into its protocol. */
export type RefusalCause =
  | PublishRefusal
  /** A second key, or a key before the protocol allows it. */
  | "out-of-turn"
  /** A request other than publishing. */
  | "unsupported-request"
  | "unsupported-codec"
  | "unreadable"
  /** Closed by the hub: taken over, terminated, shutting down. */
  | "let-go";

export interface Refusal {
  readonly cause: RefusalCause;
  /** For the broadcaster. */
  readonly sentence: string;
  /** Only for `let-go`: the encoder should connect again by itself. */
  readonly mayReturn?: boolean;
}

/** A codec that Weir does not support. The message is for the broadcaster. */
export class UnsupportedCodec extends Error {
  readonly code = "unsupported-codec";
}

export const OUT_OF_TURN: Refusal = { cause: "out-of-turn", sentence: "publish was sent too early or twice." };

/** The same sentence for unknown and suspended keys, so that it does not reveal which keys exist. */
const WRONG_KEY = "This stream key is not known, or may not publish. Check the stream key.";

const SENTENCES: Record<PublishRefusal, string> = {
  "unknown-key": WRONG_KEY,
  suspended: WRONG_KEY,
  "too-many": "This server has reached its limit of publishers. Try again later.",
  draining: "This server is shutting down. Connect again.",
  unavailable: "The server cannot check the stream key right now. Try again in a moment.",
};

export function refusalOf(cause: PublishRefusal): Refusal {
  return { cause, sentence: SENTENCES[cause] };
}

/** Null for an internal error. */
export function refusalOfError(error: unknown): Refusal | null {
  if (error instanceof UnsupportedCodec) return { cause: "unsupported-codec", sentence: error.message };
  if (!(error instanceof FormatError)) return null;
  return { cause: "unreadable", sentence: `The server could not read what was sent: ${error.message}.` };
}
