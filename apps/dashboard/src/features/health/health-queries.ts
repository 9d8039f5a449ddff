import { queryOptions } from "@tanstack/react-query";
import { weir } from "../../lib/weir.ts";

/** Asked again by whoever follows the stream's events; by itself only in case none come through. */
export function healthQuery(streamId: string) {
  return queryOptions({
    queryKey: ["health", streamId],
    queryFn: ({ signal }) => weir.health(streamId, { signal }),
    refetchInterval: 30_000,
  });
}
