/** One job, as its handler sees it. */
export interface Job {
  readonly id: string;
  readonly data: object;
  /** Aborted when the process closes or the job took too long. */
  readonly signal: AbortSignal;
}

/** A kind of jobs, and how its jobs share the workers. */
export interface JobPlaces {
  readonly name: string;
  /**
   * Jobs of this kind that run at a time in one process. Several processes together also run this many, except that processes that look for a
   * job at the same moment do not see each other's.
   */
  readonly maxAtOnce: number;
  /**
   * Of them, those of one owner, in all processes together with the same exception; others wait their turn behind the jobs of other owners.
   * Then `maxAtOnce` is for each process.
   */
  readonly maxPerOwner?: number;
  /** A run that takes longer is abandoned and retried. */
  readonly maxSeconds: number;
  readonly maxRetries: number;
  /** Each further retry waits up to twice as long. */
  readonly firstRetrySeconds?: number;
  /** A job of this kind is queued once in this many seconds, however many processes there are. */
  readonly everySeconds?: number;
  /** Of jobs with the same key only one can wait or run at a time; others are not queued. */
  readonly isOnePerKey?: boolean;
}

/** Jobs of a kind, with what they do. */
export interface JobKind extends JobPlaces {
  /** May be called again for the same job. */
  run(job: Job): Promise<void>;
}
