import type { Job, JobKind } from "../../platform/queue/job.ts";
import type { ObjectStore } from "../../platform/storage/object-store.ts";
import {
  type FileTranscoder,
  TranscodeFailed,
  type TranscodeWork,
  transcodePrefix,
  type VideoSpec,
} from "../../ports/index.ts";
import { brokenRunsSentence } from "../assets/index.ts";
import type { Deps } from "../deps.ts";
import type { EventLog } from "../events/index.ts";
import type { TaskRow, TranscodeRow } from "../schema.ts";
import { taskSubject } from "../subject.ts";
import { addTranscodedTime } from "../usage/index.ts";
import { eventOf, moveTranscode } from "./transcode-change.ts";
import { bucketOf, folderOf, keyOf, type TranscodeRequest } from "./transcode-request.ts";
import { isInWork } from "./transcode-status.ts";
import { type LockedTranscode, lockTranscode } from "./transcode-store.ts";

const MAX_SECONDS = 12 * 3_600;
const AT_ONCE = 4;
/** Each may have to wait for hours on a slow store of its owner's. */
const MAX_PER_PROJECT = 2;
/** Of one attempt. A killed process counts for none. */
const MAX_BROKEN_RUNS = 5;
/** Steps of progress that are told as events. */
const TOLD_STEPS = 10;
const MAX_SENTENCE = 1_000;

export interface TranscodeJobDeps extends Deps {
  readonly events: EventLog;
  readonly fileTranscoder: FileTranscoder;
  readonly store: Pick<ObjectStore, "deletePrefix">;
  /** The largest file that is taken. */
  readonly maxUploadBytes: number;
}

/** Does one `transcode-file` task. At most one job for a task, whatever was queued. */
export function transcodeJob(deps: TranscodeJobDeps): JobKind {
  return {
    name: "transcode-file",
    maxAtOnce: AT_ONCE,
    maxPerOwner: MAX_PER_PROJECT,
    maxSeconds: MAX_SECONDS,
    maxRetries: 50,
    firstRetrySeconds: 10,
    isOnePerKey: true,
    run: (job) => transcodeFile(deps, job),
  };
}

/** The task has ended, or is gone. */
class NotWanted extends Error {}

async function transcodeFile(deps: TranscodeJobDeps, { data, signal }: Job): Promise<void> {
  const { taskId } = data as { taskId: string };
  const { log, fileTranscoder } = deps;
  const work = await begin(deps, taskId);
  if (!work) return;
  try {
    const progressed = (fraction: number) => tellProgress(deps, taskId, fraction);
    await complete(deps, work, await fileTranscoder.transcode(work, { signal, progressed }));
    log.info({ taskId }, "a file was transcoded");
    await removeFiles(deps, work);
  } catch (error) {
    if (error instanceof NotWanted) return;
    const isFinal = error instanceof TranscodeFailed && error.isFinal;
    if (signal.aborted || (!isFinal && (await isWorthAnotherRun(deps, taskId)))) throw error;
    const sentence =
      error instanceof TranscodeFailed ? error.message : brokenRunsSentence(error, MAX_BROKEN_RUNS, "task");
    log.info({ taskId, reason: sentence, ...(!isFinal && { err: error }) }, "a file could not be transcoded");
    await change(deps, taskId, (trx, { task }) =>
      moveTranscode(trx, task, "fail", {
        at: deps.clock.now(),
        set: { error: sentence.slice(0, MAX_SENTENCE), progress: task.progress },
      }),
    );
    await removeFiles(deps, work);
  }
}

/** A retry fetches the file anew. What a kill leaves behind here is found by the sweep of files without a row. */
async function removeFiles({ store, log }: TranscodeJobDeps, { projectId, taskId }: TranscodeWork): Promise<void> {
  await store
    .deletePrefix(transcodePrefix(projectId, taskId))
    .catch((error: unknown) => log.warn({ err: error, taskId }, "could not remove the files of an ended task"));
}

async function begin(deps: TranscodeJobDeps, taskId: string): Promise<TranscodeWork | null> {
  let work: TranscodeWork | null = null;
  await change(deps, taskId, async (trx, { task, transcode }) => {
    work = workOf(task, transcode, deps.maxUploadBytes);
    return moveTranscode(trx, task, "begin", { at: deps.clock.now() });
  }).catch((error: unknown) => {
    if (!(error instanceof NotWanted)) throw error;
  });
  return work;
}

async function tellProgress(deps: TranscodeJobDeps, taskId: string, fraction: number): Promise<void> {
  await change(deps, taskId, async (trx, { task }) => {
    const at = deps.clock.now();
    const progress = Math.max(task.progress, Math.min(1, fraction));
    await trx.updateTable("task").set({ progress, updated_at: at }).where("id", "=", taskId).execute();
    const isToldStep = Math.floor(progress * TOLD_STEPS) > Math.floor(task.progress * TOLD_STEPS);
    return isToldStep ? [eventOf(task, "task.updated", at)] : [];
  });
}

async function complete(deps: TranscodeJobDeps, { taskId, outputs }: TranscodeWork, spec: VideoSpec): Promise<void> {
  await change(deps, taskId, async (trx, { task }) => {
    const at = deps.clock.now();
    const owner = { projectId: task.project_id, userId: task.user_id };
    await addTranscodedTime(trx, [{ subject: taskSubject(taskId), owner, at, seconds: spec.duration }]);
    await trx.deleteFrom("transcode").where("id", "=", taskId).execute();
    const { format, duration } = spec;
    const output = JSON.stringify({ "transcode-file": { videoSpec: { format, duration }, ...outputs } });
    return moveTranscode(trx, task, "finish", { at, set: { progress: 1, output } });
  });
}

/** Count a run that broke off. */
async function isWorthAnotherRun({ db }: TranscodeJobDeps, taskId: string): Promise<boolean> {
  const row = await db
    .updateTable("transcode")
    .set((row) => ({ broken_runs: row("broken_runs", "+", 1) }))
    .where("id", "=", taskId)
    .returning("broken_runs")
    .executeTakeFirst();
  return row === undefined || row.broken_runs < MAX_BROKEN_RUNS;
}

type Locked = LockedTranscode & { readonly transcode: TranscodeRow };

/** Change a task that waits or runs. Throws `NotWanted` for any other. */
async function change(
  { db, events }: TranscodeJobDeps,
  taskId: string,
  act: (trx: Parameters<typeof lockTranscode>[0], locked: Locked) => ReturnType<typeof moveTranscode>,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const found = await lockTranscode(trx, taskId);
    if (!found?.transcode || !isInWork(found.task.phase)) throw new NotWanted();
    await events.append(trx, await act(trx, { task: found.task, transcode: found.transcode }));
  });
}

function workOf(task: TaskRow, transcode: TranscodeRow, maxBytes: number): TranscodeWork {
  const { input, storage, outputs, profiles, targetSegmentSizeSecs } = transcode.request as TranscodeRequest;
  const hls = [outputs.hls, outputs.fmp4].flatMap((output) => (output ? [folderOf(output.path)] : []));
  return {
    ...{ taskId: task.id, projectId: task.project_id, attempt: transcode.attempt, maxBytes },
    input: "url" in input ? input : { bucket: bucketOf(input), key: keyOf(input.path) },
    storage: bucketOf(storage),
    outputs: { hls: [...new Set(hls)], mp4: outputs.mp4 ? [folderOf(outputs.mp4.path)] : [] },
    profiles: profiles ?? null,
    targetSegmentSeconds: targetSegmentSizeSecs ?? null,
  };
}
