import { queryOptions, useQuery } from "@tanstack/react-query";
import type { PlaybackPolicy } from "@weir/contract";
import { weir } from "../../lib/weir.ts";

/** A token is valid for an hour; the next one is fetched before it ends. */
const RENEW_MS = 50 * 60_000;

function ownerTokenQuery(playbackId: string) {
  return queryOptions({
    queryKey: ["owner-token", playbackId],
    queryFn: ({ signal }) => weir.ownerToken(playbackId, { signal }),
    staleTime: RENEW_MS,
    refetchInterval: RENEW_MS,
    gcTime: RENEW_MS,
  });
}

/** Whether a policy keeps the dashboard's own player out. */
export function isGated(policy: PlaybackPolicy | null | undefined): boolean {
  return policy != null && (policy.type !== "public" || (policy.allowedOrigins ?? []).length > 0);
}

/** A playlist of a playback ID, with an owner token where the content is gated. Null until the token is there. */
export function usePreview(playlist: string, playbackId: string, gated: boolean): string | null {
  const { data, error } = useQuery({ ...ownerTokenQuery(playbackId), enabled: gated });
  // Without a token the player shows that it is refused.
  if (!gated || error) return playlist;
  return data ? `${playlist}?${new URLSearchParams({ jwt: data.token })}` : null;
}
