/** The state of the video behind a playback id. */
export type VideoState = "live" | "offline" | "recording" | "not-ready" | "not-found" | "unreachable";

/** What a server tells anybody of a video. */
export interface VideoInfo {
  readonly state: VideoState;
  /** Anybody may watch it, so anybody may know how often it was watched. */
  readonly isPublic: boolean;
  /** When its broadcast or recording began, in ms since the epoch; null where that is unknown or not for everybody. */
  readonly startedAt: number | null;
  /** Viewers of a live stream; null where that is not for everybody. */
  readonly viewers: number | null;
  /** Address of a picture to show before the video plays; null without one. */
  readonly poster: string | null;
}

/** The part of `GET /api/playback/{id}` that is read here. */
interface Answer {
  readonly type: "live" | "vod" | "recording";
  readonly meta: {
    readonly live?: 0 | 1;
    readonly playbackPolicy?: { readonly type: string } | null;
    readonly startedAt?: number;
    readonly viewerCount?: number;
    readonly poster?: string;
  };
}

const ANSWER_MS = 10_000;

const unknown = (state: VideoState): VideoInfo => ({
  state,
  isPublic: false,
  startedAt: null,
  viewers: null,
  poster: null,
});

/** Asks the server for the state, without a credential: anybody may know that a video exists. The playlist decides who may watch it. */
export async function fetchVideo(server: string, playbackId: string): Promise<VideoInfo> {
  try {
    const address = `${server}/api/playback/${encodeURIComponent(playbackId)}`;
    const response = await fetch(address, { signal: AbortSignal.timeout(ANSWER_MS) });
    if (response.status === 404) return unknown("not-found");
    if (response.status === 422) return unknown("not-ready");
    if (!response.ok) return unknown("unreachable");
    const { type, meta } = (await response.json()) as Answer;
    return {
      state: type !== "live" ? "recording" : meta.live === 1 ? "live" : "offline",
      isPublic: (meta.playbackPolicy?.type ?? "public") === "public",
      startedAt: meta.startedAt ?? null,
      viewers: meta.viewerCount ?? null,
      // Its host may not work from here; its path does.
      poster: meta.poster === undefined ? null : `${server}${new URL(meta.poster).pathname}`,
    };
  } catch {
    return unknown("unreachable");
  }
}
