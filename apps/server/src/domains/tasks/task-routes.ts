import { routes, type Task } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { seesSecretsOf } from "../accounts/index.ts";
import { ApiRoutes, found, listOf, type Principal } from "../api/index.ts";
import type { Deps } from "../deps.ts";
import { findOwned } from "../owned-row.ts";
import type { Owner, TaskRow } from "../schema.ts";
import { taskRecord, withoutTaskSecrets } from "./task-record.ts";
import { taskFields } from "./task-store.ts";

export interface TaskRoutesDeps extends Deps {
  /** Run a task once more, if its kind can: what the task works on decides. */
  retryTask(owner: Owner, task: TaskRow): Promise<void>;
}

export function taskRoutes(app: FastifyInstance, deps: TaskRoutesDeps): void {
  const { db, retryTask } = deps;
  const api = new ApiRoutes(app, deps);
  const find = async (principal: Principal, id: string) => found(await findOwned(db, "task", principal, id));
  api.on(routes.listTasks, listOf(db, "task", { fields: taskFields, order: "createdAt-true", shown }));
  api.on(routes.getTask, async ({ principal, id }) => shown(await find(principal, id), { principal }));
  api.on(routes.retryTask, async ({ principal, id }) => {
    await retryTask(principal, await find(principal, id));
    return shown(await find(principal, id), { principal });
  });
}

/** The task as this caller may see it. */
function shown(row: TaskRow, { principal }: { readonly principal: Principal }): Task {
  const task = taskRecord(row);
  return seesSecretsOf(principal.access, "asset", task.outputAssetId ?? "") ? task : withoutTaskSecrets(task);
}
