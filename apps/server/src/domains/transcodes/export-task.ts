import { type FileExporter, type MediaCatalogue, type MediaIndex, TaskFailed } from "../../ports/index.ts";
import { findAssetRecord } from "../assets/index.ts";
import type { Deps } from "../deps.ts";
import { type CustomerTask, type CustomerTaskRow, customerTask } from "./customer-task.ts";
import type { ExportRequest } from "./export-request.ts";

export interface ExportTaskDeps extends Deps {
  readonly fileExporter: FileExporter;
  /** Where the bytes of an asset or a recording are. */
  readonly catalogue: Pick<MediaCatalogue, "mediaIndex">;
}

/** Does one `export` task. A run after a kill sends everything again: the receiver got a part of the file, and no end. */
export function exportTask(deps: ExportTaskDeps): CustomerTask<void> {
  return customerTask("export", {
    async run(task, run) {
      const { url, method, headers } = task.request as ExportRequest;
      const media = await mediaOf(deps, task);
      await deps.fileExporter.send({ taskId: task.id, media, url, method, headers }, run);
    },
    output: async () => null,
  });
}

/** Read again for each run: the owner may have deleted the asset since. */
async function mediaOf({ db, catalogue }: ExportTaskDeps, task: CustomerTaskRow): Promise<MediaIndex> {
  const id = task.input_asset_id ?? "";
  const owner = { projectId: task.project_id, userId: task.user_id };
  const asset = await findAssetRecord(db, owner, id, { publicUrl: "", details: false });
  if (!asset) throw new TaskFailed("The asset was deleted before it was exported.", { isFinal: true });
  const kind = asset.source.type === "recording" ? "recording" : "asset";
  const media = await catalogue.mediaIndex({ kind, id, projectId: task.project_id });
  if (!media) throw new TaskFailed("The asset is not ready to be exported.", { isFinal: true });
  return media;
}
