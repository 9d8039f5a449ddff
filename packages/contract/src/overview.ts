import { type Static, Type } from "typebox";

/** The operator's overview: the project's streams and webhooks, and the free capacity of this process. */
export const Overview = Type.Object({
  streams: Type.Object({
    total: Type.Integer(),
    live: Type.Integer({ description: "Live or reconnecting" }),
    outgoingRate: Type.Number({ description: "Bytes per second that viewers of live streams get" }),
    unhealthy: Type.Integer({ description: "Active streams that have a harmful issue or wait for their broadcaster" }),
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
      { description: "Absent if this process receives no media" },
    ),
  ),
});
export type Overview = Static<typeof Overview>;
