import { keepPreviousData, queryOptions, useMutation, useMutationState, useQueryClient } from "@tanstack/react-query";
import type { NewStream, Stream, StreamPatch } from "@weir/contract";
import { weir } from "../../shared/lib/weir.ts";
import { strings } from "../../shared/strings.ts";
import { listOptionsOf, type StreamSearch } from "./stream-search.ts";

/** One page of streams. */
export function streamsQuery(search: StreamSearch, limit = 20) {
  return queryOptions({
    queryKey: ["streams", search, limit],
    queryFn: ({ signal }) => weir.streams.list({ ...listOptionsOf(search, Date.now()), limit, signal }),
    refetchInterval: 5000,
    placeholderData: keepPreviousData,
  });
}

const MAX_CHOICES = 200;

/** The newest streams, for a form or a filter that names one of them. */
export const streamChoicesQuery = queryOptions({
  queryKey: ["streams", "choices"],
  queryFn: async ({ signal }) => (await weir.streams.list({ limit: MAX_CHOICES, signal })).items,
});

/** One stream. Its events refresh it, and so does an interval, because a lost source sends no event: 2 s while active, else 5 s. */
export function streamQuery(id: string) {
  return queryOptions({
    queryKey: ["stream", id],
    queryFn: ({ signal }) => weir.streams.get(id, { signal }),
    refetchInterval: ({ state }) => (state.data?.isActive ? 2000 : 5000),
  });
}

/** Polled while a stream is idle, when an encoder may be trying to publish. */
export function refusedPublishesQuery(id: string) {
  return queryOptions({
    queryKey: ["refused-publishes", id],
    queryFn: ({ signal }) => weir.streams.refusedPublishes(id, { signal }),
    refetchInterval: 5000,
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

/** Uploads the image that viewers see while the broadcaster is away. */
export function useSlateImage(id: string) {
  return useMutation({
    mutationFn: async (file: File) => weir.streams.setSlateImage(id, await base64Of(file)),
  });
}

async function base64Of(file: File): Promise<string> {
  let text = "";
  for (const byte of new Uint8Array(await file.arrayBuffer())) text += String.fromCharCode(byte);
  return btoa(text);
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

export function useRotateStreamKey(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => weir.streams.rotateKey(id),
    onSuccess: (stream) => queries.setQueryData(streamQuery(id).queryKey, stream),
  });
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

export type BulkAction = "delete" | "suspend" | "unsuspend";

interface Bulk {
  readonly action: BulkAction;
  readonly streams: readonly Stream[];
}

/** One thing done to several streams: deleted all or none, suspended one by one, with the names of those that would not. */
export function useBulkAction() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: ({ action, streams }: Bulk) =>
      action === "delete"
        ? weir.streams.deleteMany(streams.map(({ id }) => id))
        : suspendEach(
            streams.filter(({ suspended }) => suspended !== (action === "suspend")),
            action === "suspend",
          ),
    onSettled: () => refresh(),
  });
}

async function suspendEach(streams: readonly Stream[], suspended: boolean): Promise<void> {
  const outcomes = await Promise.allSettled(streams.map(({ id }) => weir.streams.suspend(id, suspended)));
  const failed = outcomes.flatMap((outcome, i) =>
    outcome.status === "rejected" ? [{ name: streams[i]?.name ?? "", error: outcome.reason as Error }] : [],
  );
  const [first] = failed;
  if (!first) return;
  const names = failed.map(({ name }) => name).join(", ");
  throw new Error(strings.streams.selection.failed(failed.length, streams.length, names, first.error.message), {
    cause: first.error,
  });
}
