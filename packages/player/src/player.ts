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
import { type PlaybackControl, type PlaybackFigures, type PlaybackListener, playHls } from "./hls-playback.ts";
import { reportPlayback, sendReport } from "./playback-report.ts";
import { playerStrings as text } from "./player-strings.ts";
import { positionText } from "./position-text.ts";
import type { Quality } from "./qualities.ts";
import { showSeekPreview } from "./seek-preview.ts";
import { playWebrtc, whepAddressOf } from "./webrtc/webrtc-playback.ts";

export interface PlayerOptions {
  /** Address of an HLS playlist. */
  readonly src: string;
  readonly live: boolean;
  /** Names the video for screen readers. */
  readonly label: string;
  /** Address of a picture to show until the video plays. */
  readonly poster?: string;
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
}

/** A player that is on the page. */
export interface MountedPlayer {
  /** Continues at another address of the same video, such as one with a newer token. */
  moveTo(src: string): void;
}

/** A picture counts as live within this many seconds of the live edge. */
const LIVE_TOLERANCE_SECONDS = 2;
/** The speeds that a viewer can choose for a recording. */
const RATES = [0.5, 1, 1.5, 2];

/**
 * Fills an element with a player that starts by itself, muted, and removes it when the signal aborts.
 * The player is made of plain elements, so that it needs no framework.
 */
export function mountPlayer(
  place: HTMLElement | ShadowRoot,
  { src, live, label, poster, isLatencyShown = false, reportedAs }: PlayerOptions,
  listener: PlayerListener,
  signal: AbortSignal,
): MountedPlayer {
  place.innerHTML = markup(live, isLatencyShown);
  const controller = part(place, "media-controller");
  const video = part<HTMLVideoElement>(place, "video");
  const problem = part(place, ".w-player-problem");
  const latency = part(place, ".w-player-latency");
  const unmute = part(place, ".w-player-unmute");
  const loading = part(place, ".w-player-loading");
  const qualities = part<HTMLSelectElement>(place, ".w-player-quality");
  video.setAttribute("aria-label", label);
  if (poster !== undefined) video.poster = poster;
  listener.onVideo?.(video);

  const report =
    reportedAs === undefined
      ? null
      : reportPlayback(
          video,
          { playbackId: reportedAs, now: () => performance.now(), send: (body) => sendReport(src, body) },
          signal,
        );

  const menu = new QualityMenu(qualities, (quality) => control.choose(quality));
  const hls: PlaybackListener = {
    onFigures: (figures) => {
      listener.onFigures?.(figures);
      latency.hidden = !isLatencyShown || figures.latencySeconds === null;
      latency.textContent = text.behind((figures.latencySeconds ?? 0).toFixed(1));
    },
    onProblem: (sentence) => {
      if (sentence !== null) report?.fail();
      problem.hidden = sentence === null;
      problem.textContent = sentence ?? "";
      if (sentence !== null) loading.hidden = true;
    },
    onQualities: (list) => menu.offer(list),
    onShown: (quality) => menu.show(quality),
  };
  let address = src;
  let ofHls = new AbortController();
  const startHls = (): PlaybackControl => {
    ofHls = new AbortController();
    return playHls(video, address, live, hls, AbortSignal.any([signal, ofHls.signal]));
  };
  let control = startHls();

  if (live && whepAddressOf(src) !== null)
    offerRealTime(
      part(place, ".w-player-realtime"),
      signal,
      (isRealTime, onFailed) => {
        if (!isRealTime) {
          control = startHls();
          return;
        }
        ofHls.abort();
        menu.offer([]);
        latency.hidden = true;
        playWebrtc(video, whepAddressOf(address) ?? "", onFailed, isRealTime);
      },
      (sentence) => {
        problem.hidden = sentence === null;
        problem.textContent = sentence ?? "";
      },
    );
  if (!live) {
    showSeekPreview(part(place, ".w-player-seek"), video, () => address, signal);
    showTime(part(place, ".w-player-time"), video, signal);
    chooseSpeed(part(place, ".w-player-rate"), video, signal);
  }
  if (live) keepLive(controller, video, () => control.liveEdge(), signal);
  // From the first picture on, the player's own indicator says that it waits.
  const shown = (): void => {
    loading.hidden = true;
  };
  video.addEventListener("loadeddata", shown, { signal });
  const showUnmute = (): void => {
    unmute.hidden = !video.muted || video.paused;
  };
  for (const event of ["playing", "pause", "volumechange"]) video.addEventListener(event, showUnmute, { signal });
  const turnSoundOn = (): void => {
    video.muted = false;
  };
  unmute.addEventListener("click", turnSoundOn, { signal });
  if (live) video.addEventListener("ended", () => listener.onEnded?.(), { signal });
  signal.addEventListener("abort", () => place.replaceChildren());
  return {
    moveTo: (next) => {
      address = next;
      if (!ofHls.signal.aborted) control.moveTo(next);
    },
  };
}

// Texts are set as text, never as markup.
const unmuteButton = `<button type="button" class="w-player-unmute" hidden>${text.unmute}</button>`;

function markup(live: boolean, isLatencyShown: boolean): string {
  return `
    <media-controller class="w-player${isLatencyShown ? " w-player-with-latency" : ""}" defaultstreamtype="${live ? "live" : "on-demand"}" novolumepref nomutedpref>
      <video slot="media" muted playsinline></video>
      <media-loading-indicator slot="centered-chrome" noautohide></media-loading-indicator>
      <span slot="centered-chrome" class="w-player-loading" role="status" aria-label="${text.loading}" noautohide></span>
      <div slot="top-chrome" class="w-player-top" noautohide>
        <p class="w-player-problem" role="status" hidden></p>
      </div>
      ${live ? "" : '<media-control-bar class="w-player-seek"><media-time-range></media-time-range></media-control-bar>'}
      <media-control-bar>
        <media-play-button></media-play-button>
        <media-mute-button></media-mute-button>
        ${unmuteButton}
        <media-volume-range></media-volume-range>
        ${live ? `<media-live-button></media-live-button><button type="button" class="w-player-realtime" aria-pressed="false" title="${text.realTimeHint}" hidden>${text.realTime}</button>` : '<span class="w-player-time"></span>'}
        <span class="w-player-latency" hidden></span>
        <span class="w-player-space"></span>
        <select class="w-player-quality" aria-label="${text.quality}" title="${text.quality}" hidden></select>
        ${live ? "" : `<select class="w-player-rate" aria-label="${text.speed}" title="${text.speed}">${RATES.map(rateOption).join("")}</select>`}
        <media-pip-button></media-pip-button>
        <media-fullscreen-button></media-fullscreen-button>
      </media-control-bar>
    </media-controller>`;
}

const rateOption = (rate: number): string =>
  `<option value="${rate}"${rate === 1 ? " selected" : ""}>${rate}×</option>`;

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

/**
 * A button that changes between HLS and WebRTC, where the browser has WebRTC. `play` gets the signal that ends real time, or null for HLS; what
 * fails in real time goes on by HLS, and is told.
 */
function offerRealTime(
  button: HTMLElement,
  signal: AbortSignal,
  play: (realTime: AbortSignal | null, onFailed: () => void) => void,
  tell: (sentence: string | null) => void,
): void {
  if (typeof RTCPeerConnection === "undefined") return;
  button.hidden = false;
  let running: AbortController | null = null;
  const change = (isOn: boolean): void => {
    running?.abort();
    running = isOn ? new AbortController() : null;
    button.setAttribute("aria-pressed", String(isOn));
    play(running && AbortSignal.any([signal, running.signal]), () => {
      change(false);
      tell(text.noRealTime);
    });
  };
  button.addEventListener(
    "click",
    () => {
      tell(null);
      change(running === null);
    },
    { signal },
  );
}

/** Tells the controls what live means here: the position that hls.js aims at, not the end of what is loaded. */
function keepLive(
  controller: HTMLElement,
  video: HTMLVideoElement,
  liveEdge: () => number | null,
  signal: AbortSignal,
): void {
  const edgeStart = (): number => (liveEdge() ?? Number.NaN) - LIVE_TOLERANCE_SECONDS;
  Object.defineProperties(video, { streamType: { value: "live" }, liveEdgeStart: { get: edgeStart } });
  const goLive = (event: Event): void => {
    event.stopPropagation();
    const edge = liveEdge();
    if (edge !== null) video.currentTime = edge;
    video.play().catch(() => {});
  };
  controller.addEventListener("mediaseektoliverequest", goLive, { signal, capture: true });
}

/** The choice of qualities; hidden while there is nothing to choose. */
class QualityMenu {
  readonly #select: HTMLSelectElement;
  #qualities: readonly Quality[] = [];

  constructor(select: HTMLSelectElement, choose: (quality: string | null) => void) {
    this.#select = select;
    select.addEventListener("change", () => choose(select.value || null));
  }

  offer(qualities: readonly Quality[]): void {
    this.#qualities = qualities;
    const chosen = this.#select.value;
    const options = qualities.map(({ id, label }) => new Option(label, id, false, id === chosen));
    this.#select.replaceChildren(new Option(text.auto, ""), ...options);
    this.#select.hidden = qualities.length < 2;
  }

  /** The quality on the screen. */
  show(shown: string | null): void {
    const auto = this.#select.options[0];
    const label = this.#qualities.find(({ id }) => id === shown)?.label;
    if (auto) auto.text = label === undefined ? text.auto : text.autoAt(label);
  }
}
