/** Bytes that are not what their specification says. `expectation` is what should have stood at byte `offset` of the input. */
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
