import { type Static, Type } from "typebox";
import { Id, Milliseconds } from "./exact.ts";

export const TaskPhase = Type.Enum(["pending", "waiting", "running", "completed", "failed", "cancelled"]);
export type TaskPhase = Static<typeof TaskPhase>;

export const TaskType = Type.Enum(["upload", "export", "export-data", "transcode-file", "clip"]);
export type TaskType = Static<typeof TaskType>;

/** Work that a request started and that continues after its response. */
export const Task = Type.Object({
  id: Id,
  type: TaskType,
  createdAt: Milliseconds,
  scheduledAt: Type.Optional(Milliseconds),
  inputAssetId: Type.Optional(Id),
  outputAssetId: Type.Optional(Id),
  projectId: Id,
  requesterId: Type.Optional(Type.String()),
  params: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: "Depends on the task's type; credentials are masked" }),
  ),
  status: Type.Object({
    phase: TaskPhase,
    updatedAt: Milliseconds,
    progress: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    errorMessage: Type.Optional(Type.String()),
    retries: Type.Optional(Type.Integer()),
  }),
  output: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});
export type Task = Static<typeof Task>;
