import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { beginOf, RANGES, type Range } from "../../features/views/view-series.ts";
import { weir } from "../../shared/lib/weir.ts";

/** Counts are kept by the hour, so there is no hurry. */
const RENEW_MS = 60_000;

/** The project's usage in a range that ends now: in all, in each step, and by creator. */
export function usageQuery(range: Range) {
  return queryOptions({
    queryKey: ["usage", range],
    queryFn: async ({ signal }) => {
      const now = Date.now();
      const from = beginOf(range, now);
      const [totals, steps, creators] = await Promise.all([
        weir.usage.query({ from, signal }),
        weir.usage.query({ from, timeStep: RANGES[range].timeStep, signal }),
        weir.usage.query({ from, byCreator: true, signal }),
      ]);
      return { now, total: totals[0], steps, creators };
    },
    refetchInterval: RENEW_MS,
    placeholderData: keepPreviousData,
  });
}
