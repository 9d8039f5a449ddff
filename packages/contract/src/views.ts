import { type Static, Type } from "typebox";
import { exact, Id } from "./exact.ts";

const empty = Type.Optional(Type.String({ description: "Not recorded: always empty" }));

const dimensions = {
  playbackId: Type.Optional(
    Type.String({ description: "This and the following fields are present if the query breaks down by them" }),
  ),
  creatorId: Type.Optional(Type.String()),
  deviceType: Type.Optional(
    Type.String({ description: "`desktop`, `mobile`, `tablet`, `tv`, `bot`, or empty if unknown" }),
  ),
  device: Type.Optional(Type.String({ description: "The same as `deviceType`" })),
  os: Type.Optional(Type.String({ description: "For example `iOS`; empty if unknown" })),
  browser: Type.Optional(
    Type.String({ description: "Browser or player, for example `Safari` or `VLC`; empty if unknown" }),
  ),
  country: Type.Optional(
    Type.String({ description: "ISO 3166-1 alpha-2; empty if unknown or without `WEIR_GEOIP_FILE`" }),
  ),
  viewerId: empty,
  cpu: empty,
  browserEngine: empty,
  continent: empty,
  subdivision: empty,
  timezone: empty,
  geohash: empty,
};

/** The current viewers: one element, or one for each value of the breakdown. */
export const ViewsNow = Type.Object({
  ...dimensions,
  viewCount: Type.Integer({ description: "Viewers seen within the last 30 s" }),
  errorRate: Type.Number({
    description: "Share of the last hour's new views in which the player reported an error",
  }),
});
export type ViewsNow = Static<typeof ViewsNow>;

/** Views in a period: one element, or one for each step and value of the breakdown. */
export const Viewership = Type.Object({
  ...dimensions,
  timestamp: Type.Optional(Type.Integer({ description: "Start of the step, milliseconds since the Unix epoch, UTC" })),
  viewCount: Type.Integer({ description: "Views started" }),
  playtimeMins: Type.Number(),
  errorRate: Type.Number({ description: "Share of views whose player reported an error, 0 to 1" }),
  ttffMs: Type.Optional(
    Type.Number({
      description:
        "Mean time from play to the first picture. This and the following fields are present if players reported",
    }),
  ),
  rebufferRatio: Type.Optional(Type.Number({ description: "Share of playing time spent waiting for data, 0 to 1" })),
  exitsBeforeStart: Type.Optional(
    Type.Number({ description: "Share of reporting players that never showed a picture, 0 to 1" }),
  ),
});
export type Viewership = Static<typeof Viewership>;

/** All views of one playback id; zeros if it is unknown or was never watched. */
export const TotalViews = Type.Object({
  playbackId: Type.String(),
  viewCount: Type.Integer(),
  playtimeMins: Type.Number(),
  legacyViewCount: Type.Integer({ description: "Always 0: there is no older count" }),
});
export type TotalViews = Static<typeof TotalViews>;

const breakdownBy = Type.Optional(
  Type.Array(Type.Enum(Object.keys(dimensions) as (keyof typeof dimensions)[]), {
    description: "Also as `breakdownBy[]`, repeated or comma-separated",
  }),
);

/** Query of `GET /data/views/now`. */
export const ViewsNowQuery = exact({
  playbackId: Type.Optional(Type.String()),
  creatorId: Type.Optional(Type.String()),
  breakdownBy,
});
export type ViewsNowQuery = Static<typeof ViewsNowQuery>;

export const TimeStep = Type.Enum(["hour", "day", "week", "month", "year"]);
export type TimeStep = Static<typeof TimeStep>;

/** Query of `GET /data/views/query`. Times are milliseconds since the Unix epoch or RFC 3339; counts have a resolution of an hour. */
export const ViewsQuery = exact({
  playbackId: Type.Optional(Type.String()),
  streamId: Type.Optional(Id),
  assetId: Type.Optional(Id),
  creatorId: Type.Optional(Type.String()),
  from: Type.Optional(Type.String({ description: "Inclusive, rounded down to the hour; defaults to the beginning" })),
  to: Type.Optional(Type.String({ description: "Exclusive; defaults to now" })),
  timeStep: Type.Optional(TimeStep),
  breakdownBy,
});
export type ViewsQuery = Static<typeof ViewsQuery>;
