import type { NewExport, NewTranscode, Task } from "@weir/contract";
import type { Outbound } from "../../platform/outbound/outbound.ts";
import { ApiError, NotFound, type Principal, TooManyRequests } from "../api/index.ts";
import { checkLadder, findAssetRecord, taskRecord } from "../assets/index.ts";
import type { Deps } from "../deps.ts";
import type { EventLog } from "../events/index.ts";
import { newId } from "../ids.ts";
import { checkExport, shownExport } from "./export-request.ts";
import { refuseForPages } from "./page-export.ts";
import { eventOf, moveTranscode } from "./transcode-change.ts";
import { checkTranscode, shownRequest } from "./transcode-request.ts";
import { type CustomerTask, countInWork, lockTranscode, type QueueTask } from "./transcode-store.ts";

export interface TranscodeServiceDeps extends Deps {
  readonly events: EventLog;
  readonly outbound: Pick<Outbound, "refusalOf">;
  readonly queueTask: QueueTask;
}

/** Of one project, waiting and running. */
const MAX_IN_WORK = 100;

class NothingToRetry extends ApiError {
  constructor(message: string) {
    super(422, "task-conflict", message);
  }
}

class NotExportable extends ApiError {
  constructor() {
    super(412, "not-ready", "asset is not ready to be exported");
  }
}

/** The rules of tasks between this server and a place of the customer's: transcodes of their files, and exports of assets. */
export class TranscodeService {
  readonly #deps: TranscodeServiceDeps;

  constructor(deps: TranscodeServiceDeps) {
    this.#deps = deps;
  }

  async create(principal: Principal, request: NewTranscode): Promise<Task> {
    checkLadder(request.profiles);
    const checked = checkTranscode(request, (url) => this.#deps.outbound.refusalOf(url));
    return this.#spawn(principal, { type: "transcode-file", request: checked, params: shownRequest(checked) });
  }

  /** Send the file of a ready asset, or of a recording, to an address of the customer's. */
  async export(principal: Principal, assetId: string, request: NewExport): Promise<Task> {
    const { db, outbound } = this.#deps;
    const asset = await findAssetRecord(db, principal, assetId, { publicUrl: "", details: false });
    if (!asset) throw new NotFound("Asset not found");
    await refuseForPages(db, principal, asset);
    const checked = checkExport(request, (url) => outbound.refusalOf(url));
    if (asset.status.phase !== "ready") throw new NotExportable();
    const spawned = {
      type: "export",
      request: checked,
      params: shownExport(checked),
      input_asset_id: asset.id,
    } as const;
    return this.#spawn(principal, spawned);
  }

  async #spawn(
    principal: Principal,
    {
      request,
      params,
      ...task
    }: {
      readonly type: CustomerTask;
      readonly request: object;
      readonly params: Record<string, unknown>;
      readonly input_asset_id?: string;
    },
  ): Promise<Task> {
    const { db, clock, events, queueTask } = this.#deps;
    const at = clock.now();
    const owner = { project_id: principal.projectId, user_id: principal.userId };
    const row = await db.transaction().execute(async (trx) => {
      if ((await countInWork(trx, principal)) >= MAX_IN_WORK)
        throw new TooManyRequests(
          `${MAX_IN_WORK} files of the project are being transcoded or exported: wait for some of them`,
        );
      const row = await trx
        .insertInto("task")
        .values({
          ...{ id: newId(), ...owner, ...task, phase: "waiting" },
          ...{ created_at: at, updated_at: at, scheduled_at: at, params: JSON.stringify(params) },
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      await trx
        .insertInto("transcode")
        .values({ id: row.id, project_id: row.project_id, request: JSON.stringify(request), created_at: at })
        .execute();
      await events.append(trx, [eventOf(row, "task.spawned", at)]);
      return row;
    });
    await queueTask(row);
    return taskRecord(row);
  }

  /** Do a failed task once more, with the request as it came. */
  async retry(taskId: string): Promise<void> {
    const { db, clock, events, queueTask } = this.#deps;
    const task = await db.transaction().execute(async (trx) => {
      const found = await lockTranscode(trx, taskId);
      if (found?.task.phase !== "failed") throw new NothingToRetry("only failed tasks can be retried");
      if (!found.transcode)
        throw new NothingToRetry("the credentials of this task are no longer kept: send the request again");
      const { attempt } = found.transcode;
      await trx
        .updateTable("transcode")
        .set({ attempt: attempt + 1, broken_runs: 0 })
        .where("id", "=", taskId)
        .execute();
      const at = clock.now();
      await events.append(trx, await moveTranscode(trx, found.task, "retry", { at, set: { retries: attempt } }));
      return found.task;
    });
    await queueTask(task);
  }
}
