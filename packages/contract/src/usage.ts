import { type Static, Type } from "typebox";
import { exact } from "./exact.ts";

/** Minutes of media in a period. Existing clients know the names. */
export const UsageMetric = Type.Object({
  UserID: Type.String(),
  CreatorID: Type.Optional(Type.String({ description: "Present if the query breaks down by it" })),
  TimestampMs: Type.Optional(
    Type.Integer({ description: "Start of the step, milliseconds since the Unix epoch, UTC" }),
  ),
  TotalUsageMins: Type.Number({ description: "Minutes of source media transcoded" }),
  DeliveryUsageMins: Type.Number({ description: "Minutes watched" }),
  StorageUsageMins: Type.Number({
    description: "Minutes stored at the end of the period: ready recordings and assets",
  }),
});
export type UsageMetric = Static<typeof UsageMetric>;

/** Query of `GET /data/usage/query`. Times are milliseconds since the Unix epoch or RFC 3339; counts have a resolution of an hour. */
export const UsageQuery = exact({
  from: Type.Optional(Type.String({ description: "Inclusive, rounded down to the hour; defaults to the beginning" })),
  to: Type.Optional(Type.String({ description: "Exclusive; defaults to now" })),
  timeStep: Type.Optional(Type.Enum(["hour", "day"])),
  creatorId: Type.Optional(Type.String()),
  breakdownBy: Type.Optional(Type.Array(Type.Enum(["creatorId"]), { description: "Also as `breakdownBy[]`" })),
});
export type UsageQuery = Static<typeof UsageQuery>;
