import type { Playback } from "./playback.ts";
import { LIVE_WITHIN_MS } from "./rewind.ts";
import { RewindBar, type RewindParts } from "./rewind-bar.ts";

const LIVE_TOLERANCE_SECONDS = LIVE_WITHIN_MS / 1000;

/** A button that changes between HLS and WebRTC. */
export function offerRealTime(
  button: HTMLElement,
  playback: Playback,
  tell: (sentence: string | null) => void,
  signal: AbortSignal,
): void {
  button.hidden = !playback.hasRealTime;
  const change = (): void => {
    tell(null);
    if (playback.isRealTime) playback.playHls();
    else playback.playRealTime();
  };
  button.addEventListener("click", change, { signal });
}

/** A live picture that stands still for so long has words. */
const STILL_MS = 3000;
const LOOK_MS = 500;

/** Says that a live picture stands still, and when it moves again; by its pictures, as no event of WebRTC and none of a reload tells of that. */
export function sayWhenStill(video: HTMLVideoElement, say: (isStill: boolean) => void, signal: AbortSignal): void {
  let last = 0;
  let movedAt: number | null = null;
  let isSaid = false;
  const tell = (isStill: boolean): void => {
    if (isSaid !== isStill) say(isStill);
    isSaid = isStill;
  };
  const look = (): void => {
    const shown = progressOf(video);
    const isMoving = shown > 0 && shown !== last;
    last = shown;
    // A browser shows no pictures of a page in the background.
    if (isMoving || video.paused || video.ended || document.hidden) {
      if (movedAt !== null || isMoving) movedAt = performance.now();
      tell(false);
    } else if (movedAt !== null && performance.now() - movedAt >= STILL_MS) tell(true);
  };
  const timer = setInterval(look, LOOK_MS);
  signal.addEventListener("abort", () => clearInterval(timer));
}

/** What changes while a video plays: its pictures, or its position where it has only sound. */
const progressOf = (video: HTMLVideoElement): number =>
  video.videoWidth > 0 ? video.getVideoPlaybackQuality().totalVideoFrames : video.currentTime;

/** Tells the controls what live means here: the position that hls.js aims at, not the end of what is loaded. */
export function keepLive(
  controller: HTMLElement,
  video: HTMLVideoElement,
  playback: Playback,
  signal: AbortSignal,
): void {
  const edgeStart = (): number => (playback.liveEdge() ?? Number.NaN) - LIVE_TOLERANCE_SECONDS;
  Object.defineProperties(video, { streamType: { value: "live" }, liveEdgeStart: { get: edgeStart } });
  const goLive = (event: Event): void => {
    event.stopPropagation();
    playback.goTo(null);
    video.play().catch(() => {});
  };
  controller.addEventListener("mediaseektoliverequest", goLive, { signal, capture: true });
}

/** The bar that goes back in a live stream, and the keys that do so anywhere in the player. */
export function offerRewind(
  controller: HTMLElement,
  video: HTMLVideoElement,
  parts: RewindParts,
  playback: Playback,
  signal: AbortSignal,
): RewindBar {
  const controls = {
    timeline: () => playback.timeline(),
    goTo: (dateMs: number | null) => playback.goTo(dateMs),
    playlist: () => playback.src,
  };
  const bar = new RewindBar(parts, controls, signal);
  // The keys of media-chrome ask for a position in what is loaded, which at the live edge begins a few seconds ago.
  const seek = (event: Event): void => {
    const { detail } = event as CustomEvent<number>;
    if (bar.move(detail - video.currentTime)) event.stopPropagation();
  };
  controller.addEventListener("mediaseekrequest", seek, { signal, capture: true });
  return bar;
}
