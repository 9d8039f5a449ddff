import { type HlsOptions, type PlaybackControl, type PlaybackListener, playHls } from "./hls-playback.ts";
import { firstMoment, type LiveTimeline, type RewindWindow, rewindWindowIn } from "./rewind.ts";
import { playWebrtc, type WebrtcFailure, whepAddressOf } from "./webrtc/webrtc-playback.ts";

export interface PlaybackOptions extends Omit<HlsOptions, "fromMs"> {
  /** WebRTC and HLS start a second apart, and the first picture decides. */
  readonly isLowLatency?: boolean;
}

export interface WaysListener extends PlaybackListener {
  /** How the video comes now; `failure`: why the other way does not work here, null if nobody knows that it does not. */
  onWay(way: "hls" | "webrtc", failure: WayFailure | null): void;
}

/** Why a way does not work here: as WebRTC says it, or HLS did not play. */
export type WayFailure = Exclude<WebrtcFailure, "away"> | "no-hls";

/** HLS starts so long after WebRTC, and twice as long where UDP does not get through and relays are tried. */
const HEAD_START_MS = 1000;
/** While HLS does not play, WebRTC is tried as often. */
const WEBRTC_AGAIN_MS = 15_000;
const FIGURES_MS = 500;

/** How a video reaches its element: by HLS, or, where a viewer of a live stream asks for real time or low latency, by WebRTC. */
export class Playback {
  readonly #video: HTMLVideoElement;
  readonly #options: PlaybackOptions;
  readonly #listener: WaysListener;
  readonly #signal: AbortSignal;
  #src: string;
  #hls: PlaybackControl | null = null;
  #ofHls = new AbortController();
  #ofWebrtc: AbortController | null = null;
  /** The try of WebRTC that HLS was faster than: it goes on until it is known whether the network blocks it. */
  #slower: AbortController | null = null;
  /** Where HLS was last: WebRTC cannot say how far viewers can go back. */
  #timeline: LiveTimeline | null = null;
  /** What the playlist says of that, where HLS has not played. */
  #window: RewindWindow | null = null;
  #triedWebrtcAt = Number.NEGATIVE_INFINITY;
  /** A viewer who has gone back is not brought to the live edge. */
  #isBack = false;

  constructor(video: HTMLVideoElement, options: PlaybackOptions, listener: WaysListener, signal: AbortSignal) {
    this.#video = video;
    this.#options = options;
    this.#src = options.src;
    this.#listener = listener;
    this.#signal = signal;
    if (options.isLowLatency && options.isStarting !== false && this.hasRealTime) this.#race();
    else this.#startHls();
  }

  get src(): string {
    return this.#src;
  }

  /** Whether there is an address for real time, and the browser has WebRTC. */
  get hasRealTime(): boolean {
    return this.#options.live && whepAddressOf(this.#src) !== null && typeof RTCPeerConnection !== "undefined";
  }

  get isRealTime(): boolean {
    return this.#ofWebrtc !== null;
  }

  /** Plays in real time until `playHls`, and by HLS when that does not work or no longer does. */
  playRealTime(): void {
    this.#isBack = false;
    this.timeline();
    this.#ofHls.abort();
    this.#hls = null;
    this.#startWebrtc(this.#video);
    this.#enterRealTime(null);
  }

  /** Ends real time. `fromMs` is the moment to begin at; null for the live edge. */
  playHls(fromMs: number | null = null): void {
    this.#ofWebrtc?.abort();
    this.#slower?.abort();
    this.#ofWebrtc = null;
    this.#startHls(fromMs);
    this.#listener.onWay("hls", null);
  }

  choose(quality: string | null): void {
    this.#hls?.choose(quality);
  }

  liveEdge(): number | null {
    return this.#hls?.liveEdge() ?? null;
  }

  timeline(): LiveTimeline | null {
    if (this.isRealTime) {
      const now = Date.now();
      const sinceMs = this.#timeline?.sinceMs ?? (this.#window && firstMoment(this.#window, now));
      return sinceMs === null ? null : { sinceMs, atMs: now, edgeMs: now };
    }
    this.#timeline = this.#hls?.timeline() ?? null;
    return this.#timeline;
  }

  /** Goes to a moment, in ms since the epoch; null for the live edge. Only HLS goes back. */
  goTo(dateMs: number | null): void {
    this.#isBack = dateMs !== null;
    if (!this.isRealTime) this.#hls?.goTo(dateMs);
    else if (dateMs !== null) this.playHls(dateMs);
  }

  /** Continues at another address of the same video, such as one with a newer token. */
  moveTo(src: string): void {
    this.#src = src;
    this.#hls?.moveTo(src);
  }

  #startHls(fromMs: number | null = null): void {
    this.#ofHls = new AbortController();
    const signal = AbortSignal.any([this.#signal, this.#ofHls.signal]);
    const listener: PlaybackListener = {
      ...this.#listener,
      onProblem: (problem) => {
        if (problem !== null) this.#tryWebrtc();
        this.#listener.onProblem(problem);
      },
    };
    this.#hls = playHls(this.#video, { ...this.#options, src: this.#src, fromMs }, listener, signal);
  }

  /** HLS does not play, such as behind a cache that fails. It goes on trying, and WebRTC tries beside it. */
  #tryWebrtc(): void {
    const now = performance.now();
    if (!this.hasRealTime || this.isRealTime || this.#isBack) return;
    if (now - this.#triedWebrtcAt < WEBRTC_AGAIN_MS) return;
    this.#triedWebrtcAt = now;
    this.#race("no-hls");
  }

  #startWebrtc(video: HTMLVideoElement, isLastResort = false) {
    this.#slower?.abort();
    const abort = new AbortController();
    this.#ofWebrtc = abort;
    const failed = (why: WebrtcFailure): void => {
      if (this.#ofWebrtc === abort) this.#ofWebrtc = null;
      // Also takes its media out of the element, where it would stand before those of HLS.
      abort.abort();
      if (this.#hls === null) this.#startHls();
      if (!isLastResort) this.#listener.onWay("hls", why === "away" ? null : why);
    };
    const signal = AbortSignal.any([this.#signal, abort.signal]);
    return { playback: playWebrtc(video, whepAddressOf(this.#src) ?? "", failed, signal), abort };
  }

  #enterRealTime(failure: WayFailure | null): void {
    this.#listener.onQualities([]);
    this.#listener.onWay("webrtc", failure);
    const { signal } = this.#ofWebrtc ?? this.#ofHls;
    const timer = setInterval(() => this.#listener.onFigures({ latencySeconds: null, stalls: 0 }), FIGURES_MS);
    for (const end of [this.#signal, signal]) end.addEventListener("abort", () => clearInterval(timer));
    if (this.#timeline === null) void this.#readWindow(signal);
  }

  /** How far viewers can go back, from the playlist that WebRTC was faster than. */
  async #readWindow(signal: AbortSignal): Promise<void> {
    const playlist = await fetch(this.#src, { signal }).then(
      (response) => (response.ok ? response.text() : ""),
      () => "",
    );
    this.#window = rewindWindowIn(playlist);
  }

  /** WebRTC plays in an element that nobody sees until its first picture, as both cannot share one. `failure`: why HLS lost before the race. */
  #race(failure: WayFailure | null = null): void {
    const spare = document.createElement("video");
    Object.assign(spare, { muted: true, playsInline: true });
    const { playback, abort } = this.#startWebrtc(spare, failure !== null);
    const startHls = (): void => {
      if (this.#hls === null) this.#startHls();
    };
    let late = setTimeout(() => {
      if (playback.isByRelay) late = setTimeout(startHls, HEAD_START_MS);
      else startHls();
    }, HEAD_START_MS);
    const race = new AbortController();
    const over = (): void => {
      clearTimeout(late);
      race.abort();
    };
    const { signal } = race;
    for (const end of [this.#signal, abort.signal]) end.addEventListener("abort", over, { once: true, signal });
    // Chromium says that it has data also when a connection ends that brought none.
    const onPicture = (then: () => void) => (): void => {
      if (spare.videoWidth > 0) then();
    };
    const webrtcWins = (): void => {
      over();
      this.#ofHls.abort();
      this.#hls = null;
      playback.moveTo(this.#video);
      this.#enterRealTime(failure);
    };
    const hlsWins = (): void => {
      over();
      this.#ofWebrtc = null;
      this.#slower = abort;
      const ended = { signal: abort.signal };
      spare.addEventListener(
        "loadeddata",
        onPicture(() => abort.abort()),
        ended,
      );
      this.#listener.onWay("hls", null);
    };
    spare.addEventListener("loadeddata", onPicture(webrtcWins), { signal });
    this.#video.addEventListener("loadeddata", hlsWins, { signal });
  }
}
