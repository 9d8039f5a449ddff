import type { PlaybackInfo, TotalViews } from "@weir/contract";

/** The state of the video behind a playback id. */
export type VideoState = "live" | "offline" | "recording" | "not-ready" | "not-found" | "unreachable";

export interface Video {
  readonly state: VideoState;
  /** Anybody may watch it, so anybody may know how often it was watched. */
  readonly isPublic: boolean;
  /** When its broadcast or recording began, in ms since the epoch; null where that is unknown or not for everybody. */
  readonly startedAt: number | null;
  /** Viewers of a live stream; null where that is not for everybody. */
  readonly viewers: number | null;
  /** Path of a picture to show before the video plays; null without one. */
  readonly poster: string | null;
}

const gated = (state: VideoState): Video => ({
  state,
  isPublic: false,
  startedAt: null,
  viewers: null,
  poster: null,
});

/** Asks the server for the state, without a credential: anybody may know that a video exists. The playlist decides who may watch it. */
export async function fetchVideo(playbackId: string): Promise<Video> {
  try {
    const response = await fetch(`/api/playback/${encodeURIComponent(playbackId)}`);
    if (response.status === 404) return gated("not-found");
    if (response.status === 422) return gated("not-ready");
    if (!response.ok) return gated("unreachable");
    const { type, meta } = (await response.json()) as PlaybackInfo;
    const isPublic = (meta.playbackPolicy?.type ?? "public") === "public";
    return {
      state: type !== "live" ? "recording" : meta.live === 1 ? "live" : "offline",
      isPublic,
      startedAt: meta.startedAt ?? null,
      viewers: meta.viewerCount ?? null,
      // Its host may not work from here; its path does.
      poster: meta.poster === undefined ? null : new URL(meta.poster).pathname,
    };
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
