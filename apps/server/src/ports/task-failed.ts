/** Why a task that goes to a place of the customer's could not be done: a sentence for the owner, without a secret. */
export class TaskFailed extends Error {
  readonly code = "task-failed";
  /** It would fail again in the same way. */
  readonly isFinal: boolean;

  constructor(sentence: string, { isFinal, cause }: { readonly isFinal: boolean; readonly cause?: unknown }) {
    super(sentence, { cause });
    this.isFinal = isFinal;
  }
}
