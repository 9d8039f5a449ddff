import type { NewExport, NewTranscode, Task } from "@weir/contract";
import type { Outbound } from "../../platform/outbound/outbound.ts";
import { ApiError, found, type Principal, TooManyRequests } from "../api/index.ts";
import { checkLadder, findAssetRecord } from "../assets/index.ts";
import type { EventDeps } from "../events/index.ts";
import { insertTask, type QueueTask, taskEvent, taskRecord } from "../tasks/index.ts";
import { moveTask } from "./customer-task.ts";
import { checkExport, shownExport } from "./export-request.ts";
import { refuseForPages } from "./page-export.ts";
import { checkTranscode, shownRequest } from "./transcode-request.ts";
import { type CustomerTaskType, countInWork, lockTranscode } from "./transcode-store.ts";

export interface TranscodeDeps extends EventDeps {
  readonly outbound: Pick<Outbound, "refusalOf">;
  readonly queueTask: QueueTask;
}

/** Unfinished tasks of one project. */
const MAX_IN_WORK = 100;

const nothingToRetry = (why: string) => new ApiError(422, "task-conflict", why);

export async function createTranscode(deps: TranscodeDeps, principal: Principal, request: NewTranscode): Promise<Task> {
  checkLadder(request.profiles);
  const checked = checkTranscode(request, (url) => deps.outbound.refusalOf(url));
  return spawn(deps, principal, { type: "transcode-file", request: checked, params: shownRequest(checked) });
}

/** Send the file of a ready asset or recording to a customer's URL. */
export async function exportAsset(
  deps: TranscodeDeps,
  principal: Principal,
  assetId: string,
  request: NewExport,
): Promise<Task> {
  const { db, outbound } = deps;
  const record = await findAssetRecord(db, principal, assetId, { publicUrl: "", details: false });
  const asset = found(record, "Asset not found");
  await refuseForPages(db, principal, asset);
  const checked = checkExport(request, (url) => outbound.refusalOf(url));
  if (asset.status.phase !== "ready") throw new ApiError(412, "not-ready", "asset is not ready to be exported");
  const params = shownExport(checked);
  return spawn(deps, principal, { type: "export", request: checked, params, input_asset_id: asset.id });
}

interface Spawned {
  readonly type: CustomerTaskType;
  readonly request: object;
  readonly params: Record<string, unknown>;
  readonly input_asset_id?: string;
}

async function spawn(
  { db, clock, events, queueTask }: TranscodeDeps,
  principal: Principal,
  { request, ...task }: Spawned,
): Promise<Task> {
  const at = clock.now();
  const row = await db.transaction().execute(async (trx) => {
    if ((await countInWork(trx, principal)) >= MAX_IN_WORK)
      throw new TooManyRequests(
        `${MAX_IN_WORK} files of the project are being transcoded or exported: wait for some of them`,
      );
    const row = await insertTask(trx, {
      ...task,
      project_id: principal.projectId,
      user_id: principal.userId,
      phase: "waiting",
      created_at: at,
      scheduled_at: at,
    });
    await trx
      .insertInto("transcode")
      .values({ id: row.id, project_id: row.project_id, request: JSON.stringify(request), created_at: at })
      .execute();
    await events.append(trx, [taskEvent(row, "task.spawned", at)]);
    return row;
  });
  await queueTask(task.type, row);
  return taskRecord(row);
}

/** Run a failed task again, with its original request. */
export async function retryTranscode({ db, clock, events, queueTask }: TranscodeDeps, taskId: string): Promise<void> {
  const task = await db.transaction().execute(async (trx) => {
    const found = await lockTranscode(trx, taskId);
    if (found?.task.phase !== "failed") throw nothingToRetry("only failed tasks can be retried");
    if (!found.transcode)
      throw nothingToRetry("the credentials of this task are no longer kept: send the request again");
    const { attempt } = found.transcode;
    await trx
      .updateTable("transcode")
      .set({ attempt: attempt + 1, broken_runs: 0 })
      .where("id", "=", taskId)
      .execute();
    const at = clock.now();
    await events.append(trx, await moveTask(trx, found.task, "retry", { at, set: { retries: attempt } }));
    return found.task;
  });
  await queueTask(task.type as CustomerTaskType, task);
}
