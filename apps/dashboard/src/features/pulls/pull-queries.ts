import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Pull } from "@weir/contract";
import { weir } from "../../shared/lib/weir.ts";

/** What a source has, or what is wrong with it. */
export function useTrySource() {
  return useMutation({ mutationFn: (pull: Pull) => weir.streams.tryPull(pull) });
}

/** Changes of the source that a stream is pulled from. */
export function usePullChanges(streamId: string) {
  const queries = useQueryClient();
  const onSettled = () => queries.invalidateQueries({ queryKey: ["stream", streamId] });
  return {
    /** From now on the stream is pulled from this source. */
    set: useMutation({
      mutationFn: async (pull: Pull) => {
        await weir.streams.patch(streamId, { pull });
        await weir.streams.startPull(streamId);
      },
      onSettled,
    }),
    start: useMutation({ mutationFn: () => weir.streams.startPull(streamId), onSettled }),
    stop: useMutation({ mutationFn: () => weir.streams.terminate(streamId), onSettled }),
    remove: useMutation({ mutationFn: () => weir.streams.patch(streamId, { pull: null }), onSettled }),
  };
}
