import { type Static, Type } from "typebox";

/** The operator's first look: the project's streams and webhooks, and how much room this process has. */
export const Overview = Type.Object({
  streams: Type.Object({
    total: Type.Integer(),
    live: Type.Integer({ description: "Live or reconnecting" }),
    unhealthy: Type.Integer({ description: "Active streams with a harmful issue, or that wait for their broadcaster" }),
  }),
  webhooks: Type.Object({
    total: Type.Integer(),
    failing: Type.Integer({ description: "Webhooks whose last request failed" }),
    paused: Type.Integer(),
  }),
  disk: Type.Object({ freeBytes: Type.Integer(), totalBytes: Type.Integer() }),
  transcoding: Type.Optional(
    Type.Object(
      { usedCores: Type.Number(), totalCores: Type.Number() },
      { description: "Absent where this process receives no media" },
    ),
  ),
});
export type Overview = Static<typeof Overview>;
