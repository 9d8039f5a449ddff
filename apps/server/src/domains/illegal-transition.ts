/** A lifecycle received an input that its table does not have for this state. A bug, so the message names both. */
export class IllegalTransition extends Error {
  readonly code = "illegal-transition";
  constructor(lifecycle: string, state: string, input: string) {
    super(`${lifecycle}: no way from "${state}" by "${input}"`);
  }
}
