import { Type } from "typebox";
import { ok, type Route } from "../route.ts";
import { UsageMetric, UsageQuery } from "../usage.ts";

const usage = {
  method: "GET",
  summary: "Minutes transcoded, delivered and stored; a list if the query has steps or a breakdown",
  auth: "key",
  query: UsageQuery,
  success: ok(Type.Union([UsageMetric, Type.Array(UsageMetric)])),
  failures: [400],
} as const;

/** Usage, at both URLs of the data API. */
export const usageRoutes = {
  getUsage: { ...usage, path: "/api/data/usage/query" },
  getUsageOutsideApi: { ...usage, path: "/data/usage/query" },
} as const satisfies Record<string, Route>;
