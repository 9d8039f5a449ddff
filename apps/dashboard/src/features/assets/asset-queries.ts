import { keepPreviousData, queryOptions, useQueryClient } from "@tanstack/react-query";
import type { AssetPatch } from "@weir/contract";
import { useEffect } from "react";
import { useChange } from "../../shared/lib/change.ts";
import { weir } from "../../shared/lib/weir.ts";
import type { AssetSearch } from "./asset-search.ts";

const ASSETS = ["assets"];

export function assetsQuery({ sort = "-createdAt", ...search }: AssetSearch) {
  return queryOptions({
    queryKey: [...ASSETS, "list", search, sort],
    queryFn: ({ signal }) =>
      weir.assets.list({
        ...search,
        limit: 20,
        orderBy: { field: sort.replace("-", ""), descending: sort.startsWith("-") },
        signal,
      }),
    refetchInterval: 3000,
    placeholderData: keepPreviousData,
  });
}

export function assetQuery(id: string) {
  return queryOptions({
    queryKey: [...ASSETS, "one", id],
    queryFn: ({ signal }) => weir.assets.get(id, { signal }),
    refetchInterval: ({ state }) => (state.data?.status.phase === "ready" ? 10_000 : 2000),
  });
}

/** The qualities of an asset and their addresses. */
export function renditionsQuery(playbackId: string, isReady: boolean) {
  return queryOptions({
    queryKey: [...ASSETS, "playback", playbackId, isReady],
    queryFn: ({ signal }) => weir.playback.get(playbackId, { signal }),
    refetchInterval: isReady ? false : 5000,
  });
}

export function usePatchAsset(id: string) {
  return useChange(ASSETS, (change: AssetPatch) => weir.assets.patch(id, change));
}

export function useDeleteAsset(id: string) {
  return useChange(ASSETS, (_: undefined) => weir.assets.delete(id));
}

export function useRestoreAsset(id: string) {
  return useChange(ASSETS, (_: undefined) => weir.assets.restore(id));
}

export function useRetryAsset(id: string) {
  return useChange(ASSETS, (_: undefined) => weir.assets.retry(id));
}

/** Asks for the assets again whenever an upload enters another phase, so that the list says the same as the upload. */
export function useFreshAssets(phases: string): void {
  const queries = useQueryClient();
  useEffect(() => {
    if (phases !== "") void queries.invalidateQueries({ queryKey: ASSETS });
  }, [queries, phases]);
}
