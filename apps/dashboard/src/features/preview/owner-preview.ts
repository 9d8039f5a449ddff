import { queryOptions, useQuery } from "@tanstack/react-query";
import type { PlaybackPolicy } from "@weir/contract";
import { weir } from "../../shared/lib/weir.ts";

/** A token is valid for an hour; the next one is fetched before it ends. */
const RENEW_MS = 50 * 60_000;

export function ownerTokenQuery(playbackId: string) {
  return queryOptions({
    queryKey: ["owner-token", playbackId],
    queryFn: ({ signal }) => weir.access.ownerToken(playbackId, { signal }),
    staleTime: RENEW_MS,
    refetchInterval: RENEW_MS,
    gcTime: RENEW_MS,
  });
}

/** A playlist of a playback ID with an owner token, which opens it whatever its policy and counts as no viewer. Null until the token has arrived. */
export function usePreview(playlist: string, playbackId: string): string | null {
  const { data, error } = useQuery(ownerTokenQuery(playbackId));
  // Without a token the player shows that the server refused it.
  if (error) return playlist;
  return data ? `${playlist}?${new URLSearchParams({ jwt: data.token })}` : null;
}

/** The address of a file of a video, for a link of its owner: with an owner token if the video is gated. Undefined until the token has arrived. */
export function useOwnerAddress(
  address: string,
  playbackId: string,
  policy: PlaybackPolicy | null | undefined,
): string | undefined {
  const isGated = (policy?.type ?? "public") !== "public";
  const { data, error } = useQuery({ ...ownerTokenQuery(playbackId), enabled: isGated });
  // Without a token the server says why it refuses the file.
  if (!isGated || error) return address;
  return data && `${address}?${new URLSearchParams({ jwt: data.token })}`;
}
