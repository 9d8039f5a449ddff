import { queryOptions } from "@tanstack/react-query";
import { weir } from "../../shared/lib/weir.ts";

/** The page refreshes it on the stream's events. The interval is for the case that no event gets through. */
export function healthQuery(streamId: string) {
  return queryOptions({
    queryKey: ["health", streamId],
    queryFn: ({ signal }) => weir.streams.health(streamId, { signal }),
    refetchInterval: 30_000,
  });
}
