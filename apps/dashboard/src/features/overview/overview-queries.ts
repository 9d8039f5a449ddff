import { queryOptions } from "@tanstack/react-query";
import { weir } from "../../shared/lib/weir.ts";
import { beginOf, RANGES, stepSeries } from "../views/view-series.ts";

export const overviewQuery = queryOptions({
  queryKey: ["streams", "overview"],
  queryFn: ({ signal }) => weir.dashboard.overview({ signal }),
  refetchInterval: 5000,
});

/** The views of the project in each of the last 24 hours, oldest first. */
export const hourlyViewsQuery = queryOptions({
  queryKey: ["views", "hourly"],
  queryFn: async ({ signal }) => {
    const now = Date.now();
    const steps = await weir.views.query({ from: beginOf("day", now), timeStep: RANGES.day.timeStep, signal });
    const { values } = stepSeries(
      "day",
      now,
      steps.map(({ timestamp, viewCount }) => [timestamp, viewCount]),
    );
    return { values: values.map((value) => value ?? 0) };
  },
  refetchInterval: 60_000,
});
