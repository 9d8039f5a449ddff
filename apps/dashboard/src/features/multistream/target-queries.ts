import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import type { MultistreamTargetPatch, NewTargetRef } from "@weir/contract";
import { weir } from "../../shared/lib/weir.ts";

/** The target as it is registered: its name, and whether it is disabled. */
export function targetQuery(id: string) {
  return queryOptions({
    queryKey: ["target", id],
    queryFn: ({ signal }) => weir.targets.get(id, { signal }),
    staleTime: 30_000,
  });
}

/** Changes of a stream's targets. */
export function useTargetChanges(streamId: string) {
  const queries = useQueryClient();
  const onSettled = () =>
    Promise.all(
      [["stream", streamId], ["health", streamId], ["target"]].map((queryKey) =>
        queries.invalidateQueries({ queryKey }),
      ),
    );
  return {
    add: useMutation({ mutationFn: (target: NewTargetRef) => weir.streams.addTarget(streamId, target), onSettled }),
    remove: useMutation({
      mutationFn: ({ id, profile }: { readonly id: string; readonly profile: string }) =>
        weir.streams.removeTarget(streamId, id, { profile }),
      onSettled,
    }),
    patch: useMutation({
      mutationFn: ({ id, ...changes }: MultistreamTargetPatch & { readonly id: string }) =>
        weir.targets.patch(id, changes),
      onSettled,
    }),
  };
}
