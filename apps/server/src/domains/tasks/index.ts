/** The door of tasks: work that a worker does for a project, from its request to its result. Assets, imports, clips, transcodes and exports are kinds of it. */
export { lifecycleEvent, taskEvent, taskMoved } from "./task-event.ts";
export {
  type LockedTask,
  RunFailed,
  type TaskKind,
  type TaskState,
  taskJob,
  taskQueue,
} from "./task-job.ts";
export { placesOf, type QueuedTask, type QueueTask, TASK_JOBS, type TaskJobName } from "./task-places.ts";
export { taskRecord, withoutQuery } from "./task-record.ts";
export { taskRoutes } from "./task-routes.ts";
export { isInWork, nextTaskPhase, type TaskStep } from "./task-status.ts";
export { insertTask, readTask } from "./task-store.ts";
