import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { weir } from "../../lib/weir.ts";

/** Sessions of one stream, or of all when there is no id. */
export function sessionsQuery(streamId: string | undefined, cursor: string | undefined) {
  return queryOptions({
    queryKey: ["sessions", streamId ?? null, cursor ?? null],
    queryFn: ({ signal }) =>
      streamId === undefined
        ? weir.sessions.list({ cursor, signal })
        : weir.sessions.ofStream(streamId, { cursor, signal }),
    refetchInterval: 5000,
    placeholderData: keepPreviousData,
  });
}

export function sessionQuery(id: string) {
  return queryOptions({
    queryKey: ["session", id],
    queryFn: ({ signal }) => weir.sessions.get(id, { signal }),
    refetchInterval: 5000,
  });
}
