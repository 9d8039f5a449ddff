import type { ObjectStore } from "../../platform/storage/object-store.ts";
import { type FileTranscoder, type TranscodeWork, transcodePrefix, type VideoSpec } from "../../ports/index.ts";
import type { Deps } from "../deps.ts";
import type { DomainConfig } from "../settings.ts";
import { taskSubject } from "../subject.ts";
import { addTranscodedTime } from "../usage/index.ts";
import { type CustomerTask, type CustomerTaskRow, customerTask } from "./customer-task.ts";
import { bucketOf, folderOf, keyOf, type TranscodeRequest } from "./transcode-request.ts";

export interface TranscodeTaskDeps extends Deps, Pick<DomainConfig, "maxUploadBytes"> {
  readonly fileTranscoder: FileTranscoder;
  readonly store: Pick<ObjectStore, "deletePrefix">;
}

/** Does one `transcode-file` task. */
export function transcodeTask({ fileTranscoder, store, maxUploadBytes }: TranscodeTaskDeps): CustomerTask<VideoSpec> {
  return customerTask("transcode-file", {
    run: (task, run) => fileTranscoder.transcode(workOf(task, maxUploadBytes), run),
    async output(task, { format, duration }, trx, at) {
      const owner = { projectId: task.project_id, userId: task.user_id };
      await addTranscodedTime(trx, [{ subject: taskSubject(task.id), owner, at, seconds: duration }]);
      const { outputs } = workOf(task, maxUploadBytes);
      return JSON.stringify({ "transcode-file": { videoSpec: { format, duration }, ...outputs } });
    },
    /** A retry fetches the file again. What a kill leaves behind here is found by the sweep of files without a row. */
    ended: ({ id, project_id: projectId }) => store.deletePrefix(transcodePrefix(projectId, id)),
  });
}

function workOf(task: CustomerTaskRow, maxBytes: number): TranscodeWork {
  const { input, storage, outputs, profiles, targetSegmentSizeSecs } = task.request as TranscodeRequest;
  const hls = [outputs.hls, outputs.fmp4].flatMap((output) => (output ? [folderOf(output.path)] : []));
  return {
    taskId: task.id,
    projectId: task.project_id,
    attempt: task.attempt,
    maxBytes,
    input: "url" in input ? input : { bucket: bucketOf(input), key: keyOf(input.path) },
    storage: bucketOf(storage),
    outputs: { hls: [...new Set(hls)], mp4: outputs.mp4 ? [folderOf(outputs.mp4.path)] : [] },
    profiles: profiles ?? null,
    targetSegmentSeconds: targetSegmentSizeSecs ?? null,
  };
}
