import { type Static, Type } from "typebox";
import { exact } from "./exact.ts";

/** Minutes of media in a stretch of time. The names are those that clients of this API know. */
export const UsageMetric = Type.Object({
  UserID: Type.String(),
  CreatorID: Type.Optional(Type.String({ description: "Where the query breaks down by it" })),
  TimestampMs: Type.Optional(
    Type.Integer({ description: "Begin of the step, milliseconds since the Unix epoch, UTC" }),
  ),
  TotalUsageMins: Type.Number({ description: "Transcoded, in time of the source" }),
  DeliveryUsageMins: Type.Number({ description: "Watched" }),
  StorageUsageMins: Type.Number({ description: "Stored at the end of the time: recordings and assets that are ready" }),
});
export type UsageMetric = Static<typeof UsageMetric>;

/** Query of `GET /data/usage/query`. Times are milliseconds since the Unix epoch or RFC 3339; counts are kept by the hour. */
export const UsageQuery = exact({
  from: Type.Optional(Type.String({ description: "Inclusive, down to its hour; the beginning if unset" })),
  to: Type.Optional(Type.String({ description: "Exclusive; now if unset" })),
  timeStep: Type.Optional(Type.Enum(["hour", "day"])),
  creatorId: Type.Optional(Type.String()),
  breakdownBy: Type.Optional(Type.Array(Type.Enum(["creatorId"]), { description: "Also as `breakdownBy[]`" })),
});
export type UsageQuery = Static<typeof UsageQuery>;
