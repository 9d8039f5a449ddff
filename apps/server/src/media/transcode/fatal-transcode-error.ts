import type { ToChild, TranscodeErrorCode } from "./transcode-protocol.ts";

/** Ends a transcode child; `message` is a sentence for a person. */
export class FatalTranscodeError extends Error {
  override readonly name = "FatalTranscodeError";
  readonly code: TranscodeErrorCode;

  constructor(code: TranscodeErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** For a message that the child's engine does not take. */
export function unexpected({ type }: ToChild): FatalTranscodeError {
  return new FatalTranscodeError(
    "internal",
    `A transcoding child got "${type}", which is not for what it was started for`,
  );
}
