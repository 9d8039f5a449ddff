/** The file is at fault, and no retry helps. The sentence is for its owner: what is wrong, and what to do. */
export class FileRefused extends Error {
  override readonly name = "FileRefused";
}

/** The pictures are sound, but players want others. */
export class CannotCopy extends Error {
  override readonly name = "CannotCopy";
}
