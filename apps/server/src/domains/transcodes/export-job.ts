import type { JobKind } from "../../platform/queue/job.ts";
import { type FileExporter, type MediaIndex, type PlaybackGate, TaskFailed } from "../../ports/index.ts";
import { findAssetRecord } from "../assets/index.ts";
import type { TaskRow } from "../schema.ts";
import type { ExportRequest } from "./export-request.ts";
import { type TaskJobDeps, taskJob } from "./task-job.ts";

export interface ExportJobDeps extends TaskJobDeps {
  readonly fileExporter: FileExporter;
  /** Where the bytes of an asset or a recording are. */
  readonly mediaIndex: PlaybackGate["mediaIndex"];
}

/** Does one `export` task. A run that a kill cut off begins anew: the receiver got a part of the file, and no end. */
export function exportJob(deps: ExportJobDeps): JobKind {
  return taskJob(deps, {
    type: "export",
    async run({ task, transcode }, how) {
      const { url, method, headers } = transcode.request as ExportRequest;
      const media = await mediaOf(deps, task);
      await deps.fileExporter.send({ taskId: task.id, media, url, method, headers }, how);
      return async () => null;
    },
    async ended() {},
  });
}

/** As it is now: its owner may have deleted it since. */
async function mediaOf({ db, mediaIndex }: ExportJobDeps, task: TaskRow): Promise<MediaIndex> {
  const id = task.input_asset_id ?? "";
  const owner = { projectId: task.project_id, userId: task.user_id };
  const asset = await findAssetRecord(db, owner, id, { publicUrl: "", details: false });
  if (!asset) throw new TaskFailed("The asset was deleted before it was exported.", { isFinal: true });
  const kind = asset.source.type === "recording" ? "recording" : "asset";
  const media = await mediaIndex({ kind, id, projectId: task.project_id });
  if (!media) throw new TaskFailed("The asset is not ready to be exported.", { isFinal: true });
  return media;
}
