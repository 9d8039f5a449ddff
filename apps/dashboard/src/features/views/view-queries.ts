import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { weir } from "../../lib/weir.ts";
import { beginOf, RANGES, type Range } from "./view-series.ts";

/** How many watch a playback id; renewed as often as the server counts. */
export function viewersNowQuery(playbackId: string) {
  return queryOptions({
    queryKey: ["viewers-now", playbackId],
    queryFn: async ({ signal }) => (await weir.views.now({ playbackId, signal }))[0]?.viewCount ?? 0,
    refetchInterval: 10_000,
  });
}

/** How many watch each playback ID that has viewers. */
export const viewersByIdQuery = queryOptions({
  queryKey: ["viewers-now"],
  queryFn: async ({ signal }) => {
    const counts = await weir.views.now({ breakdownBy: ["playbackId"], signal });
    return new Map(counts.map(({ playbackId = "", viewCount }) => [playbackId, viewCount]));
  },
  refetchInterval: 10_000,
});

/** The views of a playback id in each step of a range that ends now. */
export function viewsQuery(playbackId: string, range: Range) {
  return queryOptions({
    queryKey: ["views", playbackId, range],
    queryFn: async ({ signal }) => {
      const now = Date.now();
      const from = beginOf(range, now);
      const told = await weir.views.query({ playbackId, from, timeStep: RANGES[range].timeStep, signal });
      return { now, told };
    },
    refetchInterval: 20_000,
    placeholderData: keepPreviousData,
  });
}
