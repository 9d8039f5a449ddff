import type { PlaybackInfo } from "@weir/contract";

/** The state of the video behind a playback id. */
export type VideoState = "live" | "offline" | "recording" | "not-ready" | "not-found" | "unreachable";

/** Asks the server for the state, without a credential: anybody may know that a video exists. The playlist decides who may watch it. */
export async function fetchVideoState(playbackId: string): Promise<VideoState> {
  try {
    const response = await fetch(`/api/playback/${encodeURIComponent(playbackId)}`);
    if (response.status === 404) return "not-found";
    if (response.status === 422) return "not-ready";
    if (!response.ok) return "unreachable";
    const { type, meta } = (await response.json()) as PlaybackInfo;
    if (type !== "live") return "recording";
    return meta.live === 1 ? "live" : "offline";
  } catch {
    return "unreachable";
  }
}
