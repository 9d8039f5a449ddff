/** What all work on tasks has in common: the domain floor starts a run, and the media floor returns its result or throws. */

/** One run of a task. A task may run again, after a fault or a kill. */
export interface TaskRun {
  /** Aborted when the process closes, the run took too long, or nobody wants the result any more. The run stops soon after. */
  readonly signal: AbortSignal;
  /** Report progress from 0 to 1, as often as you like. Throws if nobody wants the result any more; let it through. */
  progressed(fraction: number): Promise<void>;
}

/** The task cannot be done. The message is a sentence for its owner, says what to do, and contains no secret. */
export class TaskFailed extends Error {
  readonly code = "task-failed";
  /** Another run would fail in the same way. */
  readonly isFinal: boolean;

  constructor(sentence: string, { isFinal, cause }: { readonly isFinal: boolean; readonly cause?: unknown }) {
    super(sentence, { cause });
    this.isFinal = isFinal;
  }
}

/** A run ended early, and another may succeed. The message names the cause. It is shown to the owner of the file. */
export class ProcessingBroke extends Error {
  readonly code = "processing-broke";
}
