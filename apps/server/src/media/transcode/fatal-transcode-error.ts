import type { TranscodeErrorCode } from "./transcode-protocol.ts";

/** Ends a transcode child; `message` is a sentence for a person. */
export class FatalTranscodeError extends Error {
  override readonly name = "FatalTranscodeError";
  readonly code: TranscodeErrorCode;

  constructor(code: TranscodeErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
