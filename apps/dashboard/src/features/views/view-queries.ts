import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { Viewership } from "@weir/contract";
import { weir } from "../../shared/lib/weir.ts";
import { beginOf, RANGES, type Range, stepSeries } from "./view-series.ts";

/** The number of current viewers of a playback id; renewed as often as the server counts. */
export function viewersNowQuery(playbackId: string) {
  return queryOptions({
    queryKey: ["viewers-now", playbackId],
    queryFn: async ({ signal }) => (await weir.views.now({ playbackId, signal }))[0]?.viewCount ?? 0,
    refetchInterval: 10_000,
  });
}

/** The number of current viewers of each playback id that has any. */
export const viewersByIdQuery = queryOptions({
  queryKey: ["viewers-now"],
  queryFn: async ({ signal }) => {
    const counts = await weir.views.now({ breakdownBy: ["playbackId"], signal });
    return new Map(counts.map(({ playbackId = "", viewCount }) => [playbackId, viewCount]));
  },
  refetchInterval: 10_000,
});

/** The views in each of the last 24 hours of each playback id that had any: of the whole project, because one request has all of them. */
export const viewTrendsQuery = queryOptions({
  queryKey: ["view-trends"],
  queryFn: async ({ signal }) => {
    const now = Date.now();
    const { timeStep } = RANGES.day;
    const hours = await weir.views.query({ from: beginOf("day", now), timeStep, breakdownBy: ["playbackId"], signal });
    const byId = Map.groupBy(hours, ({ playbackId = "" }) => playbackId);
    return new Map([...byId].map(([id, ofId]) => [id, viewsPerHour(ofId, now)]));
  },
  refetchInterval: 60_000,
});

function viewsPerHour(hours: readonly Viewership[], now: number): number[] {
  const counts = hours.map(({ timestamp, viewCount }) => [timestamp, viewCount] as const);
  return stepSeries("day", now, counts).values.map((count) => count ?? 0);
}

export interface ViewSteps {
  /** When the server was asked. */
  readonly now: number;
  readonly steps: readonly Viewership[];
}

/** The views of a playback id in each step of a range that ends now. */
export function viewsQuery(playbackId: string, range: Range) {
  return queryOptions({
    queryKey: ["views", playbackId, range],
    queryFn: async ({ signal }): Promise<ViewSteps> => {
      const now = Date.now();
      const from = beginOf(range, now);
      const steps = await weir.views.query({ playbackId, from, timeStep: RANGES[range].timeStep, signal });
      return { now, steps };
    },
    refetchInterval: 20_000,
    placeholderData: keepPreviousData,
  });
}

/** All views of a playback id in a range that ends now, as one figure each. */
export function viewTotalsQuery(playbackId: string, range: Range) {
  return queryOptions({
    queryKey: ["view-totals", playbackId, range],
    queryFn: async ({ signal }) =>
      (await weir.views.query({ playbackId, from: beginOf(range, Date.now()), signal }))[0] ?? null,
    refetchInterval: 20_000,
    placeholderData: keepPreviousData,
  });
}

/** The groups that viewers can be told apart by. */
export const DIMENSIONS = ["deviceType", "os", "browser", "country"] as const;
export type ViewDimension = (typeof DIMENSIONS)[number];

/** The views in a range that ends now, by group: of one playback id, or of the whole project. */
export function audienceQuery(playbackId: string | undefined, range: Range, dimension: ViewDimension) {
  return queryOptions({
    queryKey: ["audience", playbackId, range, dimension],
    queryFn: async ({ signal }) => {
      const from = beginOf(range, Date.now());
      const groups = await weir.views.query({ playbackId, from, breakdownBy: [dimension], signal });
      return groups.map((group) => ({ name: group[dimension] ?? "", viewCount: group.viewCount }));
    },
    refetchInterval: 20_000,
  });
}
