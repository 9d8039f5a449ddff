import { queryOptions } from "@tanstack/react-query";
import type { SigningKeyPatch } from "@weir/contract";
import { useChange } from "../../shared/lib/change.ts";
import { weir } from "../../shared/lib/weir.ts";

const KEYS = ["signing-keys"];

/** The query reads all keys at once: a project has few. */
export const signingKeysQuery = queryOptions({
  queryKey: KEYS,
  queryFn: async ({ signal }) => (await weir.signingKeys.list({ limit: 100, signal })).items,
  refetchInterval: 30_000,
});

export function useCreateSigningKey() {
  return useChange(KEYS, (name: string) => weir.signingKeys.create(name === "" ? {} : { name }));
}

export function usePatchSigningKey(id: string) {
  return useChange(KEYS, (changes: SigningKeyPatch) => weir.signingKeys.patch(id, changes));
}

export function useDeleteSigningKey(id: string) {
  return useChange(KEYS, (_: undefined) => weir.signingKeys.delete(id));
}
