import { queryOptions } from "@tanstack/react-query";
import type { NewClip } from "@weir/contract";
import { useChange } from "../../shared/lib/change.ts";
import { weir } from "../../shared/lib/weir.ts";

const CLIPS = ["clips"];

/** Clips of a stream, session or asset by its id; asked for again soon while one of them is being made. */
export function clipsQuery(id: string) {
  return queryOptions({
    queryKey: [...CLIPS, id],
    queryFn: ({ signal }) => weir.clips.list(id, { signal }),
    refetchInterval: ({ state }) =>
      state.data?.some(({ status }) => status.phase !== "ready" && status.phase !== "failed") ? 1000 : 30_000,
  });
}

export function useCreateClip() {
  return useChange(CLIPS, (clip: NewClip) => weir.clips.create(clip));
}
