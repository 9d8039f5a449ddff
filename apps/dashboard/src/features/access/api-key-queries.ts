import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import type { NewApiToken } from "@weir/contract";
import { weir } from "../../lib/weir.ts";

const KEYS = ["api-keys"];

export function apiKeysQuery(cursor: string | undefined) {
  return queryOptions({
    queryKey: [...KEYS, cursor ?? null],
    queryFn: ({ signal }) => weir.apiTokens.list({ cursor, signal }),
    refetchInterval: 30_000,
    placeholderData: keepPreviousData,
  });
}

export function useCreateApiKey() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (wanted: NewApiToken) => weir.apiTokens.create(wanted),
    // The key itself is in the answer: it is not kept longer than the dialog that shows it.
    gcTime: 0,
    onSuccess: () => queries.invalidateQueries({ queryKey: KEYS }),
  });
}

export function useDeleteApiKey() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => weir.apiTokens.delete(id),
    onSettled: () => queries.invalidateQueries({ queryKey: KEYS }),
  });
}
