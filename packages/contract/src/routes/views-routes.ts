import { Type } from "typebox";
import { none, ok, type Route } from "../route.ts";
import { TotalViews, Viewership, ViewsNow, ViewsNowQuery, ViewsQuery } from "../views.ts";

const viewsNow = {
  method: "GET",
  summary: "Current viewers",
  auth: "key",
  query: ViewsNowQuery,
  success: ok(Type.Array(ViewsNow)),
  failures: [400],
} as const;

const views = {
  method: "GET",
  summary: "Views and playtime in a period",
  auth: "key",
  query: ViewsQuery,
  success: ok(Type.Array(Viewership)),
  failures: [400, 404],
} as const;

const viewsOfCreator = {
  ...views,
  summary: "Views and playtime of one asset or stream; also for browser keys",
} as const;

const totalViews = {
  method: "GET",
  summary: "All views of a playback id",
  auth: "none",
  success: ok(TotalViews),
  failures: [],
} as const;

const logPlayback = {
  method: "POST",
  summary: "Report the quality of playback, from a player",
  auth: "none",
  success: none,
  failures: [400, 413, 429],
} as const;

/** Current and past viewers, at both URLs of the data API; players report to a third. */
export const viewsRoutes = {
  getViewsNow: { ...viewsNow, path: "/api/data/views/now" },
  getViewsNowOutsideApi: { ...viewsNow, path: "/data/views/now" },
  getViews: { ...views, path: "/api/data/views/query" },
  getViewsOutsideApi: { ...views, path: "/data/views/query" },
  getViewsOfCreator: { ...viewsOfCreator, path: "/api/data/views/query/creator" },
  getViewsOfCreatorOutsideApi: { ...viewsOfCreator, path: "/data/views/query/creator" },
  getTotalViews: { ...totalViews, path: "/api/data/views/query/total/:id" },
  getTotalViewsOutsideApi: { ...totalViews, path: "/data/views/query/total/:id" },
  logPlayback: { ...logPlayback, path: "/api/data/analytics/log" },
  logPlaybackOutsideApi: { ...logPlayback, path: "/data/analytics/log" },
  logPlaybackAtRoot: { ...logPlayback, path: "/analytics/log" },
} as const satisfies Record<string, Route>;
