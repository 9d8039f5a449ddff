import { keepPreviousData, queryOptions, useMutation, useMutationState, useQueryClient } from "@tanstack/react-query";
import type { NewStream, StreamPatch } from "@weir/contract";
import { weir } from "../../lib/weir.ts";

export interface StreamListSearch {
  readonly name?: string | undefined;
  readonly active?: boolean | undefined;
  readonly cursor?: string | undefined;
}

export function streamsQuery(search: StreamListSearch) {
  return queryOptions({
    queryKey: ["streams", search],
    queryFn: ({ signal }) => weir.streams.list({ ...search, limit: 20, signal }),
    refetchInterval: 5000,
    placeholderData: keepPreviousData,
  });
}

/** Asked every 2 s: whoever looks at one stream waits for it to change. */
export function streamQuery(id: string) {
  return queryOptions({
    queryKey: ["stream", id],
    queryFn: ({ signal }) => weir.streams.get(id, { signal }),
    refetchInterval: 2000,
  });
}

function useRefresh() {
  const queries = useQueryClient();
  return (id?: string) =>
    Promise.all([
      queries.invalidateQueries({ queryKey: ["streams"] }),
      ...(id === undefined ? [] : [queries.invalidateQueries({ queryKey: ["stream", id] })]),
    ]);
}

export function useCreateStream() {
  const refresh = useRefresh();
  return useMutation({ mutationFn: (wanted: NewStream) => weir.streams.create(wanted), onSuccess: () => refresh() });
}

export function usePatchStream(id: string) {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: (changes: StreamPatch) => weir.streams.patch(id, changes),
    onSettled: () => refresh(id),
  });
}

const testBroadcastKey = ["test-broadcast"];

/** Starts a test broadcast of the stream with the given id. How it went is read by `useTestBroadcastOf`, on any page. */
export function useTestBroadcast() {
  const refresh = useRefresh();
  return useMutation({
    mutationKey: testBroadcastKey,
    mutationFn: (id: string) => weir.streams.testBroadcast(id),
    onSettled: (_answer, _error, id) => refresh(id),
  });
}

/** The last request for a test broadcast of this stream, wherever it was made. */
export function useTestBroadcastOf(id: string) {
  return useMutationState({
    filters: { mutationKey: testBroadcastKey, predicate: (mutation) => mutation.state.variables === id },
    select: ({ state }) => ({ status: state.status, error: state.error, submittedAt: state.submittedAt }),
  }).at(-1);
}

export function useTerminateStream(id: string) {
  const refresh = useRefresh();
  return useMutation({ mutationFn: () => weir.streams.terminate(id), onSettled: () => refresh(id) });
}

export function useDeleteStream(id: string) {
  const queries = useQueryClient();
  const refresh = useRefresh();
  return useMutation({
    mutationFn: () => weir.streams.delete(id),
    onSuccess: () => {
      queries.removeQueries({ queryKey: ["stream", id] });
      return refresh();
    },
  });
}
