import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { NewApiToken } from "@weir/contract";
import { useChange } from "../../shared/lib/change.ts";
import { weir } from "../../shared/lib/weir.ts";

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
  return useChange(KEYS, (wanted: NewApiToken) => weir.apiTokens.create(wanted));
}

export function useDeleteApiKey() {
  return useChange(KEYS, (id: string) => weir.apiTokens.delete(id));
}
