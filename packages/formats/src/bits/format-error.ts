/** Input that violates its specification. `expectation` says what the reader expected at byte `offset` of the input. */
export class FormatError extends Error {
  override readonly name = "FormatError";
  readonly code = "format";
  readonly expectation: string;
  readonly offset: number;

  constructor(expectation: string, offset: number) {
    super(`expected ${expectation} at byte ${offset}`);
    this.expectation = expectation;
    this.offset = offset;
  }
}
