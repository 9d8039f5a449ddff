import "media-chrome/media-airplay-button";
import "media-chrome/media-controller";
import "media-chrome/media-control-bar";
import "media-chrome/media-fullscreen-button";
import "media-chrome/media-live-button";
import "media-chrome/media-loading-indicator";
import "media-chrome/media-mute-button";
import "media-chrome/media-pip-button";
import "media-chrome/media-play-button";
import "media-chrome/media-time-range";
import "media-chrome/media-volume-range";
import type MediaTimeRange from "media-chrome/media-time-range";
import type { PlaybackFigures } from "./hls-playback.ts";
import { keepLive, offerRealTime, offerRewind, sayWhenStill } from "./live-controls.ts";
import { markup } from "./markup.ts";
import { offerOtherScreens } from "./other-screens.ts";
import { pictureAt } from "./pictures/storyboard.ts";
import { Playback, type WayFailure, type WaysListener } from "./playback.ts";
import { reportPlayback, sendReport } from "./playback-report.ts";
import { playerStrings as text } from "./player-strings.ts";
import { positionText } from "./position-text.ts";
import { QualityMenu } from "./quality-menu.ts";
import type { RewindBar } from "./rewind-bar.ts";
import { showSeekPreview } from "./seek-preview.ts";

export interface PlayerOptions {
  /** Address of an HLS playlist. */
  readonly src: string;
  readonly live: boolean;
  /** Names the video for screen readers. */
  readonly label: string;
  /** Address of a picture to show until the video plays. */
  readonly poster?: string;
  /** Whether it starts by itself; true where absent. */
  readonly isStarting?: boolean;
  /** True where absent: browsers let no page start with sound before somebody used it. */
  readonly isMuted?: boolean;
  readonly isLooping?: boolean;
  /** Tries WebRTC too, and takes what shows a picture first. */
  readonly isLowLatency?: boolean;
  /** Where a recording begins. */
  readonly startSeconds?: number | null;
  /** Shows how far the picture is behind the source. */
  readonly isLatencyShown?: boolean;
  /** Reports the playback of this id to the server; nothing is reported where it is absent. */
  readonly reportedAs?: string;
}

export interface PlayerListener {
  onFigures?(figures: PlaybackFigures): void;
  /** The element that shows the video. */
  onVideo?(video: HTMLVideoElement): void;
  /** A live video came to its end. */
  onEnded?(): void;
  /** The server refused the viewer. Without it, the player says so and tries again. */
  onDenied?(): void;
  /** Something keeps the video from playing; the player goes on trying. */
  onProblem?(): void;
  /** A live picture stands still, or moves again. */
  onStill?(isStill: boolean): void;
}

/** A player that is on the page. */
export interface MountedPlayer {
  /** Continues at another address of the same video, such as one with a newer token. */
  moveTo(src: string): void;
  /** Returns a live stream to its edge. */
  goLive(): void;
}

/**
 * Fills an element with a player that starts by itself, muted, and removes it when the signal aborts.
 * The player is made of plain elements, so that it needs no framework.
 */
export function mountPlayer(
  place: HTMLElement | ShadowRoot,
  options: PlayerOptions,
  listener: PlayerListener,
  signal: AbortSignal,
): MountedPlayer {
  const { src, live, label, poster, isLatencyShown = false, reportedAs, isMuted = true, isLooping = false } = options;
  place.innerHTML = markup(live, isLatencyShown);
  const video = part<HTMLVideoElement>(place, "video");
  const problem = part(place, ".w-player-problem");
  const latency = part(place, ".w-player-latency");
  video.setAttribute("aria-label", label);
  if (poster !== undefined) video.poster = poster;
  video.muted = isMuted;
  video.loop = isLooping && !live;
  listener.onVideo?.(video);

  const send = (body: string): void => sendReport(src, body);
  const reported = reportedAs !== undefined && { playbackId: reportedAs, now: () => performance.now(), send };
  const report = reported ? reportPlayback(video, reported, signal) : null;

  const { tell, notice } = sayIn(problem, signal);
  const loading = part(place, ".w-player-loading");
  const menu = new QualityMenu(part(place, ".w-player-quality"), (quality) => playback.choose(quality));
  const realTime = place.querySelector(".w-player-realtime");
  let rewind: RewindBar | null = null;
  const ofPlayback: WaysListener = {
    onDenied: () => {
      listener.onDenied?.();
      return listener.onDenied !== undefined;
    },
    onWay: (way, failure) => {
      realTime?.setAttribute("aria-pressed", String(way === "webrtc"));
      latency.hidden ||= way === "webrtc";
      if (failure === null) return;
      realTime?.setAttribute("title", FAILURES[failure]);
      notice(FAILURES[failure]);
    },
    onFigures: (figures) => {
      listener.onFigures?.(figures);
      rewind?.show();
      const isBack = playback.liveEdge() === null;
      latency.hidden = !isLatencyShown || figures.latencySeconds === null || isBack;
      latency.textContent = text.behind((figures.latencySeconds ?? 0).toFixed(1));
    },
    onProblem: (sentence) => {
      tell(sentence);
      if (sentence === null) return;
      report?.fail();
      loading.hidden = true;
      listener.onProblem?.();
    },
    onQualities: (list) => menu.offer(list),
    onShown: (quality) => menu.show(quality),
  };
  const playback = new Playback(video, options, ofPlayback, signal);
  if (live) {
    rewind = controlLive(place, video, playback, tell, signal);
    const sayStill = (isStill: boolean): void => {
      tell(isStill ? text.reconnecting : null);
      listener.onStill?.(isStill);
    };
    sayWhenStill(video, sayStill, signal);
  } else controlRecording(place, video, playback, signal);
  // From the first picture on, the player's own indicator says that it waits, and a change of the address shows no poster again.
  const shown = (): void => {
    loading.hidden = true;
    video.removeAttribute("poster");
  };
  video.addEventListener("loadeddata", shown, { signal });
  offerOtherScreens(part(place, ".w-player-screens"), video, signal);
  offerSound(part(place, ".w-player-unmute"), video, signal);
  if (live) video.addEventListener("ended", () => listener.onEnded?.(), { signal });
  signal.addEventListener("abort", () => place.replaceChildren());
  return { moveTo: (next) => playback.moveTo(next), goLive: () => live && playback.goTo(null) };
}

function controlLive(
  place: ParentNode,
  video: HTMLVideoElement,
  playback: Playback,
  tell: (sentence: string | null) => void,
  signal: AbortSignal,
): RewindBar {
  const controller = part(place, "media-controller");
  offerRealTime(part(place, ".w-player-realtime"), playback, tell, signal);
  keepLive(controller, video, playback, signal);
  const parts = {
    bar: part(place, ".w-player-seek"),
    range: part<HTMLInputElement>(place, ".w-player-rewind"),
    behind: part(place, ".w-player-behind"),
  };
  return offerRewind(controller, video, parts, playback, signal);
}

/** Of `media-time-range`. */
const TIME_RANGE_PADDING_PX = 10;

function controlRecording(place: ParentNode, video: HTMLVideoElement, playback: Playback, signal: AbortSignal): void {
  const range = part<MediaTimeRange>(place, "media-time-range");
  showSeekPreview(
    {
      place: part(place, ".w-player-seek"),
      range,
      insetPx: TIME_RANGE_PADDING_PX,
      ratioAt: (event) => range.getPointerRatio(event),
      ratio: () => range.range.valueAsNumber,
      momentAt: (ratio) => {
        const seconds = ratio * video.duration;
        if (!Number.isFinite(seconds)) return null;
        return { words: positionText(seconds), picture: (pictures) => pictureAt(pictures, seconds) };
      },
      playlist: () => playback.src,
      growsEveryMs: null,
    },
    signal,
  );
  showTime(part(place, ".w-player-time"), video, signal);
  chooseSpeed(part(place, ".w-player-rate"), video, signal);
}

const FAILURES: Readonly<Record<WayFailure, string>> = {
  refused: text.noRealTime,
  "no-picture": text.noRealTime,
  blocked: text.udpBlocked,
  "no-hls": text.noHls,
};

/** A notice stays for so long, also while the video plays. */
const NOTICE_MS = 10_000;

/** `tell` says what keeps the video from playing, until it no longer does; `notice` what a viewer should know, for some seconds. */
function sayIn(place: HTMLElement, signal: AbortSignal) {
  let noticed: string | null = null;
  let over: ReturnType<typeof setTimeout> | undefined;
  signal.addEventListener("abort", () => clearTimeout(over));
  const tell = (sentence: string | null): void => {
    place.textContent = sentence ?? noticed ?? "";
    place.hidden = place.textContent === "";
  };
  const notice = (sentence: string): void => {
    noticed = sentence;
    tell(null);
    clearTimeout(over);
    over = setTimeout(() => {
      if (place.textContent === noticed) place.hidden = true;
      noticed = null;
    }, NOTICE_MS);
  };
  return { tell, notice };
}

/** A button that a muted video has. */
function offerSound(unmute: HTMLElement, video: HTMLVideoElement, signal: AbortSignal): void {
  const show = (): void => {
    unmute.hidden = !video.muted || video.paused;
  };
  for (const event of ["playing", "pause", "volumechange"]) video.addEventListener(event, show, { signal });
  const turnOn = (): void => {
    video.muted = false;
  };
  unmute.addEventListener("click", turnOn, { signal });
}

/** Keeps the position and the length of a recording up to date. */
function showTime(element: HTMLElement, video: HTMLVideoElement, signal: AbortSignal): void {
  const show = (): void => {
    element.textContent = `${positionText(video.currentTime)} / ${positionText(video.duration || 0)}`;
  };
  for (const event of ["timeupdate", "durationchange", "seeking"]) video.addEventListener(event, show, { signal });
}

function chooseSpeed(select: HTMLSelectElement, video: HTMLVideoElement, signal: AbortSignal): void {
  const choose = (): void => {
    video.playbackRate = Number(select.value);
    // A video that is loaded again begins with its default.
    video.defaultPlaybackRate = video.playbackRate;
  };
  select.addEventListener("change", choose, { signal });
}

function part<T extends HTMLElement>(place: ParentNode, selector: string): T {
  const found = place.querySelector<T>(selector);
  if (!found) throw new Error(`the player has no ${selector}`);
  return found;
}
