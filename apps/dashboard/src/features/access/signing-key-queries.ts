import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import type { SigningKeyPatch } from "@weir/contract";
import { weir } from "../../lib/weir.ts";

const KEYS = ["signing-keys"];

/** All of them: a project has few. */
export const signingKeysQuery = queryOptions({
  queryKey: KEYS,
  queryFn: async ({ signal }) => (await weir.signingKeys.list({ limit: 100, signal })).items,
  refetchInterval: 30_000,
});

function useChange<Wanted, Answer>(change: (wanted: Wanted) => Promise<Answer>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    // The answer to a creation has the private key: it is not kept longer than the dialog that shows it.
    gcTime: 0,
    onSettled: () => queries.invalidateQueries({ queryKey: KEYS }),
  });
}

export function useCreateSigningKey() {
  return useChange((name: string) => weir.signingKeys.create(name === "" ? {} : { name }));
}

export function usePatchSigningKey(id: string) {
  return useChange((changes: SigningKeyPatch) => weir.signingKeys.patch(id, changes));
}

export function useDeleteSigningKey(id: string) {
  return useChange((_: undefined) => weir.signingKeys.delete(id));
}
