import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query";

/** A change on the server, after which the page refreshes all queries below `key`. */
export function useChange<Wanted, Answer>(key: QueryKey, change: (wanted: Wanted) => Promise<Answer>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    // Request and answer may hold a secret, so they are kept no longer than the dialog that shows them.
    gcTime: 0,
    onSettled: () => queries.invalidateQueries({ queryKey: key }),
  });
}
