import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import type { Session } from "@weir/contract";
import { weir } from "../../shared/lib/weir.ts";
import { type SessionSearch, sessionOptionsOf } from "./session-search.ts";

/** One page of sessions, newest first. */
export function sessionsQuery({ limit = 20, ...search }: SessionSearch & { readonly limit?: number }) {
  return queryOptions({
    queryKey: ["sessions", search, limit],
    queryFn: ({ signal }) => weir.sessions.list({ ...sessionOptionsOf(search, Date.now()), limit, signal }),
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

/** Deletes the recordings of these sessions, all or none. The sessions stay in the list. */
export function useDeleteRecordings() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (sessions: readonly Session[]) => weir.sessions.deleteRecordings(sessions.map(({ id }) => id)),
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: ["sessions"] }),
        queries.invalidateQueries({ queryKey: ["session"] }),
      ]),
  });
}
