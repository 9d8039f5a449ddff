import type { JobKind } from "../../platform/queue/job.ts";
import type { ObjectStore } from "../../platform/storage/object-store.ts";
import { type FileTranscoder, type TranscodeWork, transcodePrefix, type VideoSpec } from "../../ports/index.ts";
import type { TaskRow } from "../schema.ts";
import type { DomainConfig } from "../settings.ts";
import { taskSubject } from "../subject.ts";
import { addTranscodedTime } from "../usage/index.ts";
import { type FinishTask, type TaskInWork, type TaskJobDeps, taskJob } from "./task-job.ts";
import { bucketOf, folderOf, keyOf, type TranscodeRequest } from "./transcode-request.ts";

export interface TranscodeJobDeps extends TaskJobDeps, Pick<DomainConfig, "maxUploadBytes"> {
  readonly fileTranscoder: FileTranscoder;
  readonly store: Pick<ObjectStore, "deletePrefix">;
}

/** Does one `transcode-file` task. */
export function transcodeJob(deps: TranscodeJobDeps): JobKind {
  const { fileTranscoder, store, log, maxUploadBytes } = deps;
  return taskJob(deps, {
    type: "transcode-file",
    async run(found, how) {
      const work = workOf(found, maxUploadBytes);
      return finished(found.task, work, await fileTranscoder.transcode(work, how));
    },
    /** A retry fetches the file anew. What a kill leaves behind here is found by the sweep of files without a row. */
    async ended({ id: taskId, project_id: projectId }) {
      await store
        .deletePrefix(transcodePrefix(projectId, taskId))
        .catch((error: unknown) => log.warn({ err: error, taskId }, "could not remove the files of an ended task"));
    },
  });
}

const finished =
  (task: TaskRow, { outputs }: TranscodeWork, { format, duration }: VideoSpec): FinishTask =>
  async (trx, at) => {
    const owner = { projectId: task.project_id, userId: task.user_id };
    await addTranscodedTime(trx, [{ subject: taskSubject(task.id), owner, at, seconds: duration }]);
    return JSON.stringify({ "transcode-file": { videoSpec: { format, duration }, ...outputs } });
  };

function workOf({ task, transcode }: TaskInWork, maxBytes: number): TranscodeWork {
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
