import type { NewTranscode, Task } from "@weir/contract";
import type { Outbound } from "../../platform/outbound/outbound.ts";
import { ApiError, type Principal, TooManyRequests } from "../api/index.ts";
import { checkLadder, taskRecord } from "../assets/index.ts";
import type { Deps } from "../deps.ts";
import type { EventLog } from "../events/index.ts";
import { newId } from "../ids.ts";
import { eventOf, moveTranscode } from "./transcode-change.ts";
import { checkTranscode, shownRequest } from "./transcode-request.ts";
import { countInWork, lockTranscode, type QueueTranscode } from "./transcode-store.ts";

export interface TranscodeServiceDeps extends Deps {
  readonly events: EventLog;
  readonly outbound: Pick<Outbound, "refusalOf">;
  readonly queueTranscode: QueueTranscode;
}

/** Of one project, waiting and running. */
const MAX_IN_WORK = 100;

class NothingToRetry extends ApiError {
  constructor(message: string) {
    super(422, "task-conflict", message);
  }
}

/** The rules of tasks that transcode a file from one place of the customer's to another. */
export class TranscodeService {
  readonly #deps: TranscodeServiceDeps;

  constructor(deps: TranscodeServiceDeps) {
    this.#deps = deps;
  }

  async create(principal: Principal, request: NewTranscode): Promise<Task> {
    const { db, clock, events, outbound, queueTranscode } = this.#deps;
    checkLadder(request.profiles);
    const checked = checkTranscode(request, (url) => outbound.refusalOf(url));
    const at = clock.now();
    const owner = { project_id: principal.projectId, user_id: principal.userId };
    const row = await db.transaction().execute(async (trx) => {
      if ((await countInWork(trx, principal)) >= MAX_IN_WORK)
        throw new TooManyRequests(`${MAX_IN_WORK} files of the project are being transcoded: wait for some of them`);
      const task = await trx
        .insertInto("task")
        .values({
          ...{ id: newId(), ...owner, type: "transcode-file", phase: "waiting" },
          ...{ created_at: at, updated_at: at, scheduled_at: at, params: JSON.stringify(shownRequest(checked)) },
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      await trx
        .insertInto("transcode")
        .values({ id: task.id, project_id: task.project_id, request: JSON.stringify(checked), created_at: at })
        .execute();
      await events.append(trx, [eventOf(task, "task.spawned", at)]);
      return task;
    });
    await queueTranscode(row);
    return taskRecord(row);
  }

  /** Do a failed task once more, with the request as it came. */
  async retry(taskId: string): Promise<void> {
    const { db, clock, events, queueTranscode } = this.#deps;
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
    await queueTranscode(task);
  }
}
