import { FormatError } from "@weir/formats/bits";
import type { PublishRefusal } from "../../ports/index.ts";

/** Why a connection may not publish, or not any longer. How its protocol puts that, each ingest knows. */
export type RefusalCause =
  | PublishRefusal
  /** A second key, or one before its protocol allows it. */
  | "out-of-turn"
  /** Asked for something other than publishing. */
  | "unsupported-request"
  | "unsupported-codec"
  | "unreadable"
  /** The hub closed it: taken over, terminated, shutting down. */
  | "let-go";

export interface Refusal {
  readonly cause: RefusalCause;
  /** For the person at the encoder. */
  readonly sentence: string;
}

/** A codec that Weir does not take; the message is for the person at the encoder. */
export class UnsupportedCodec extends Error {
  readonly code = "unsupported-codec";
}

export const OUT_OF_TURN: Refusal = { cause: "out-of-turn", sentence: "publish came out of turn." };

/** One sentence for both, so that nobody can find out which keys exist. */
const WRONG_KEY = "This stream key is not known, or may not publish. Check the stream key.";

const SENTENCES: Record<PublishRefusal, string> = {
  "unknown-key": WRONG_KEY,
  suspended: WRONG_KEY,
  "too-many": "This server has no room for another stream. Try again later.",
  draining: "This server is shutting down. Connect again.",
  unavailable: "The server cannot check the stream key right now. Try again in a moment.",
};

export function refusalOf(cause: PublishRefusal): Refusal {
  return { cause, sentence: SENTENCES[cause] };
}

/** Null for an error that is the server's own. */
export function refusalOfError(error: unknown): Refusal | null {
  if (error instanceof UnsupportedCodec) return { cause: "unsupported-codec", sentence: error.message };
  if (!(error instanceof FormatError)) return null;
  return { cause: "unreadable", sentence: `The server could not read what was sent: ${error.message}.` };
}
