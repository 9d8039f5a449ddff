import type { Task } from "@weir/contract";
import type { TaskRow } from "../schema.ts";

export function taskRecord(row: TaskRow): Task {
  return {
    id: row.id,
    type: row.type,
    createdAt: Number(row.created_at),
    ...(row.scheduled_at === null ? {} : { scheduledAt: Number(row.scheduled_at) }),
    ...(row.input_asset_id === null ? {} : { inputAssetId: row.input_asset_id }),
    ...(row.output_asset_id === null ? {} : { outputAssetId: row.output_asset_id }),
    projectId: row.project_id,
    requesterId: row.user_id,
    params: row.params,
    status: {
      phase: row.phase,
      updatedAt: Number(row.updated_at),
      ...(row.phase === "running" ? { progress: row.progress } : {}),
      ...(row.error === null ? {} : { errorMessage: row.error }),
      ...(row.retries > 0 ? { retries: row.retries } : {}),
    },
    ...(row.output ? { output: row.output } : {}),
  };
}

/** The query of a signed address is a credential. */
export function withoutQuery(url: string): string {
  const query = url.search(/[?#]/);
  return query === -1 ? url : `${url.slice(0, query)}?***`;
}

/** The task for a reader who may not fetch the file of its asset from where it came. */
export function withoutTaskSecrets(task: Task): Task {
  const upload: unknown = task.params?.upload;
  if (typeof upload !== "object" || upload === null || !("url" in upload)) return task;
  return { ...task, params: { ...task.params, upload: { ...upload, url: withoutQuery(String(upload.url)) } } };
}
