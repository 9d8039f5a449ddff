import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query";

/** Something that the server is to change, after which whatever `key` heads is asked for again. */
export function useChange<Wanted, Answer>(key: QueryKey, change: (wanted: Wanted) => Promise<Answer>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    // What is sent or answered may be a secret: it is not kept longer than the dialog that asks for it or shows it.
    gcTime: 0,
    onSettled: () => queries.invalidateQueries({ queryKey: key }),
  });
}
