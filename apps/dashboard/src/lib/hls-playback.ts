import type Hls from "hls.js";
import type { ErrorData } from "hls.js";
import { strings } from "../strings.ts";

export interface PlaybackFigures {
  /** Seconds between the server's receiving a picture and its being shown; null before the first and for recordings. */
  readonly latencySeconds: number | null;
  readonly stalls: number;
}

export interface PlaybackListener {
  onFigures(figures: PlaybackFigures): void;
  /** A sentence about what keeps the video from playing; null when nothing does. */
  onProblem(problem: string | null): void;
}

const RETRY_MS = 2000;

/**
 * Plays one HLS address in a video element until the signal aborts. A live one that ends or fails is tried again every two seconds,
 * because whoever mounts it believes the stream to be live.
 */
export async function playHls(
  video: HTMLVideoElement,
  src: string,
  live: boolean,
  listener: PlaybackListener,
  signal: AbortSignal,
): Promise<void> {
  const { default: Hls } = await import("hls.js");
  if (signal.aborted) return;
  let current: Hls | null = null;
  let retry: ReturnType<typeof setTimeout> | undefined;
  const figuresAt = countStalls(video, signal);
  const timer = setInterval(() => listener.onFigures(figuresAt(live ? playingDateOf(video, current) : null)), 500);

  const attach = (): void => {
    current?.destroy();
    current = null;
    if (!Hls.isSupported()) {
      playNatively(video, src, listener);
      return;
    }
    current = hlsPlayer(Hls, live, (data) => {
      listener.onProblem(problemOf(data));
      tryAgain();
    });
    current.loadSource(src);
    current.attachMedia(video);
  };
  const tryAgain = (): void => {
    clearTimeout(retry);
    retry = setTimeout(attach, RETRY_MS);
  };

  video.addEventListener("playing", () => listener.onProblem(null), { signal });
  // A browser may refuse to start by itself; the video's own controls are there for that.
  video.addEventListener("loadeddata", () => void video.play().catch(() => {}), { signal });
  if (live) video.addEventListener("ended", tryAgain, { signal });
  signal.addEventListener("abort", () => {
    clearInterval(timer);
    clearTimeout(retry);
    current?.destroy();
    video.removeAttribute("src");
  });
  attach();
}

function hlsPlayer(Player: typeof Hls, live: boolean, onFatal: (data: ErrorData) => void): Hls {
  const hls = new Player({
    // The distance to the live edge is the playlist's own hold-back: hls.js takes it when nothing is set here.
    lowLatencyMode: live,
    // Without a rate above 1 it never makes up for a stall (1.2 s against 2.4 s behind, measured).
    maxLiveSyncPlaybackRate: live ? 1.5 : 1,
    backBufferLength: 10,
    // Our segments are fMP4 already, so there is nothing to work on; and a blob worker would need its own CSP entry.
    enableWorker: false,
  });
  hls.on(Player.Events.ERROR, (_event, data) => {
    if (data.fatal) onFatal(data);
  });
  return hls;
}

/** Safari before ManagedMediaSource. It knows neither stalls nor parts as well as hls.js, but it plays. */
function playNatively(video: HTMLVideoElement, src: string, listener: PlaybackListener): void {
  if (video.canPlayType("application/vnd.apple.mpegurl") === "") listener.onProblem(strings.player.unsupported);
  else video.src = src;
}

function playingDateOf(video: HTMLVideoElement, hls: Hls | null): number | null {
  if (video.paused || video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) return null;
  return hls?.playingDate?.getTime() ?? null;
}

function countStalls(video: HTMLVideoElement, signal: AbortSignal): (playingDate: number | null) => PlaybackFigures {
  let stalls = 0;
  let hasPlayed = false;
  video.addEventListener("playing", () => (hasPlayed = true), { signal });
  video.addEventListener("waiting", () => void (hasPlayed && !video.seeking && stalls++), { signal });
  return (playingDate) => ({
    stalls,
    latencySeconds: playingDate === null ? null : (Date.now() - playingDate) / 1000,
  });
}

function problemOf(data: ErrorData): string {
  if (data.response?.code === 401 || data.response?.code === 403) return strings.player.refused;
  if (data.type === "mediaError") return strings.player.undecodable;
  return strings.player.retrying(strings.player.unreachable);
}
