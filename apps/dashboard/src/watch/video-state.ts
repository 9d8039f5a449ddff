import type { PlaybackInfo, TotalViews } from "@weir/contract";

/** The state of the video behind a playback id. */
export type VideoState = "live" | "offline" | "recording" | "not-ready" | "not-found" | "unreachable";

export interface Video {
  readonly state: VideoState;
  /** Anybody may watch it, so anybody may know how often it was watched. */
  readonly isPublic: boolean;
}

const gated = (state: VideoState): Video => ({ state, isPublic: false });

/** Asks the server for the state, without a credential: anybody may know that a video exists. The playlist decides who may watch it. */
export async function fetchVideo(playbackId: string): Promise<Video> {
  try {
    const response = await fetch(`/api/playback/${encodeURIComponent(playbackId)}`);
    if (response.status === 404) return gated("not-found");
    if (response.status === 422) return gated("not-ready");
    if (!response.ok) return gated("unreachable");
    const { type, meta } = (await response.json()) as PlaybackInfo;
    const isPublic = (meta.playbackPolicy?.type ?? "public") === "public";
    if (type !== "live") return { state: "recording", isPublic };
    return { state: meta.live === 1 ? "live" : "offline", isPublic };
  } catch {
    return gated("unreachable");
  }
}

/** The views that a public video ever had, from its public record; 0 where that has none. */
export async function fetchViews(playbackId: string): Promise<number> {
  try {
    const response = await fetch(`/api/data/views/query/total/${encodeURIComponent(playbackId)}`);
    return response.ok ? ((await response.json()) as TotalViews).viewCount : 0;
  } catch {
    return 0;
  }
}
