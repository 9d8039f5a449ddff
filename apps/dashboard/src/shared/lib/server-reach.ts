import { useSyncExternalStore } from "react";

/** Since when the server has not answered, in milliseconds since the epoch; null while it does. */
let silentSince: number | null = null;
const listeners = new Set<() => void>();

export function reportReach(answered: boolean): void {
  const next = answered ? null : (silentSince ?? Date.now());
  if (next === silentSince) return;
  silentSince = next;
  for (const listener of listeners) listener();
}

export function useSilentSince(): number | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => silentSince,
  );
}
