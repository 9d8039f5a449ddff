import type { JobPlaces } from "../../platform/queue/job.ts";
import type { TaskRow } from "../schema.ts";

/** The kinds of work. Jobs in the queue have these names. */
export type TaskJobName = "import-asset" | "process-asset" | "make-clip" | "transcode-file" | "export";

interface Places {
  /** What its owner retries. */
  readonly noun: "asset" | "task";
  readonly atOnce: number;
  /** Some places are left to other projects: a thousand files of one project do not hold up the next one's. */
  readonly perProject: number;
  readonly firstRetrySeconds: number;
  /** Runs of one attempt that may end by an error before the task fails. A killed process, and a store or a database that is away, count for none. */
  readonly maxBrokenRuns: number;
  /**
   * A disk that is full or read-only, and a store that refuses, count for none either. All others hold an input on the disk, and give it back by failing,
   * so that there is room; and their store may be a customer's.
   */
  readonly waitsForStorage?: true;
}

const PLACES: Readonly<Record<TaskJobName, Places>> = {
  /** A slow host can hold a place for hours. Each run tries several times by itself. */
  "import-asset": { noun: "asset", atOnce: 6, perProject: 4, firstRetrySeconds: 30, maxBrokenRuns: 3 },
  /** Each is scanned, and plays, soon; the media floor bounds what encodes at a time. */
  "process-asset": {
    noun: "asset",
    atOnce: 6,
    perProject: 4,
    firstRetrySeconds: 5,
    maxBrokenRuns: 3,
    waitsForStorage: true,
  },
  /** Its own places, because a user waits for a clip while long files may hold all others. */
  "make-clip": {
    noun: "asset",
    atOnce: 3,
    perProject: 2,
    firstRetrySeconds: 5,
    maxBrokenRuns: 3,
    waitsForStorage: true,
  },
  "transcode-file": { noun: "task", atOnce: 4, perProject: 2, firstRetrySeconds: 10, maxBrokenRuns: 5 },
  export: { noun: "task", atOnce: 4, perProject: 2, firstRetrySeconds: 10, maxBrokenRuns: 5 },
};

export type QueuedTask = Pick<TaskRow, "id" | "project_id">;

/** Queue what a worker has to do for a task, by the id of what the job works on. It does nothing if that is queued or runs already. */
export type QueueTask = (name: TaskJobName, task: QueuedTask) => Promise<void>;

export const nounOf = (name: TaskJobName): Places["noun"] => PLACES[name].noun;
export const TASK_JOBS = Object.keys(PLACES) as TaskJobName[];

export const waitsForStorage = (name: TaskJobName): boolean => PLACES[name].waitsForStorage === true;

export const maxBrokenRuns = (name: TaskJobName): number => PLACES[name].maxBrokenRuns;

/** How jobs of this name share the workers. At most one job for a task, whatever was queued. */
export function placesOf(name: TaskJobName): JobPlaces {
  const { atOnce, perProject, firstRetrySeconds } = PLACES[name];
  return {
    name,
    maxAtOnce: atOnce,
    maxPerOwner: perProject,
    firstRetrySeconds,
    maxSeconds: 12 * 3_600,
    maxRetries: 50,
    isOnePerKey: true,
  };
}
