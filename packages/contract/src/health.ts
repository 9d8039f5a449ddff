import { type Static, Type } from "typebox";
import { Id, Milliseconds } from "./exact.ts";

const orNull = Type.Union([Milliseconds, Type.Null()]);

/** A repeated check of a stream, and its results. */
export const Condition = Type.Object({
  status: Type.Union([Type.Boolean(), Type.Null()], { description: "The last reading; null before the first" }),
  frequency: Type.Optional(
    Type.Object(
      { "1m": Type.Number(), "10m": Type.Number(), "60m": Type.Number() },
      { description: "Share of good readings in this window before `lastProbeTime`; absent while `status` is null" },
    ),
  ),
  lastProbeTime: orNull,
  lastTransitionTime: orNull,
  lastTransitionsTime: Type.Union([Milliseconds, Type.Null()], {
    description: "The same, under the name used by older clients",
  }),
});
export type Condition = Static<typeof Condition>;

/** Every record lists them in this order. */
export const CONDITION_TYPES = [
  "Active",
  "Transcoding",
  "TranscodeRealTime",
  "TranscodeNoErrors",
  "Multistreaming",
] as const;
export type ConditionType = (typeof CONDITION_TYPES)[number];

export const HealthCondition = Type.Object({
  type: Type.Enum([...CONDITION_TYPES]),
  ...Condition.properties,
  extraData: Type.Optional(
    Type.Object(
      { nodeId: Type.String(), region: Type.String() },
      { description: "For `Active`: the node and region of the publisher" },
    ),
  ),
});
export type HealthCondition = Static<typeof HealthCondition>;

export const HealthMetric = Type.Object({
  name: Type.String(),
  dimensions: Type.Record(Type.String(), Type.String()),
  last: Type.Tuple([Milliseconds, Type.Number()]),
});
export type HealthMetric = Static<typeof HealthMetric>;

/** One multistream target of the live stream. */
export const TargetHealth = Type.Object({
  target: Type.Object({ id: Type.String(), name: Type.String(), profile: Type.String() }),
  connected: Condition,
  state: Type.Enum(["Idle", "Pending", "Online", "Offline"]),
  reason: Type.Optional(Type.String({ description: "Why it is not connected" })),
});
export type TargetHealth = Static<typeof TargetHealth>;

/** A stream's health, computed from its events alone and therefore the same on every node and after a restart. */
export const StreamHealth = Type.Object({
  id: Id,
  healthy: Condition,
  conditions: Type.Array(HealthCondition),
  metrics: Type.Record(Type.String(), Type.Array(HealthMetric)),
  multistream: Type.Array(TargetHealth),
});
export type StreamHealth = Static<typeof StreamHealth>;
