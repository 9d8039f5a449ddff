import { TaskFailed } from "../../ports/index.ts";

/** The file cannot be processed, and a retry will not help. The message tells its owner what is wrong and what to do. */
export class FileRefused extends TaskFailed {
  override readonly name = "FileRefused";

  constructor(sentence: string) {
    super(sentence, { isFinal: true });
  }
}

/** The video is valid, but must be re-encoded to be playable. */
export class CannotCopy extends Error {
  override readonly name = "CannotCopy";
}
