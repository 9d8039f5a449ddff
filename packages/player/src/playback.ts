import { type HlsOptions, type PlaybackControl, type PlaybackListener, playHls } from "./hls-playback.ts";
import type { LiveTimeline } from "./rewind.ts";
import { playWebrtc, whepAddressOf } from "./webrtc/webrtc-playback.ts";

export interface PlaybackOptions extends Omit<HlsOptions, "fromMs"> {
  /** WebRTC and HLS start a second apart, and the first picture decides. */
  readonly isLowLatency?: boolean;
}

export interface WaysListener extends PlaybackListener {
  /** How the video comes now; `hasFailed` if the other way does not work here. */
  onWay(way: "hls" | "webrtc", hasFailed: boolean): void;
}

/** HLS starts so long after WebRTC. */
const HEAD_START_MS = 1000;

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
  /** Where HLS was last: WebRTC cannot say how far viewers can go back. */
  #timeline: LiveTimeline | null = null;

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
    this.timeline();
    this.#ofHls.abort();
    this.#hls = null;
    this.#listener.onQualities([]);
    this.#startWebrtc(this.#video);
    this.#listener.onWay("webrtc", false);
  }

  /** Ends real time. `fromMs` is the moment to begin at; null for the live edge. */
  playHls(fromMs: number | null = null): void {
    this.#ofWebrtc?.abort();
    this.#ofWebrtc = null;
    this.#startHls(fromMs);
    this.#listener.onWay("hls", false);
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
      return this.#timeline && { ...this.#timeline, atMs: now, edgeMs: now };
    }
    this.#timeline = this.#hls?.timeline() ?? null;
    return this.#timeline;
  }

  /** Goes to a moment, in ms since the epoch; null for the live edge. Only HLS goes back. */
  goTo(dateMs: number | null): void {
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
    this.#hls = playHls(this.#video, { ...this.#options, src: this.#src, fromMs }, this.#listener, signal);
  }

  #startWebrtc(video: HTMLVideoElement) {
    const abort = new AbortController();
    this.#ofWebrtc = abort;
    const failed = (): void => {
      if (this.#ofWebrtc !== abort) return;
      this.#ofWebrtc = null;
      // Also takes its media out of the element, where it would stand before those of HLS.
      abort.abort();
      if (this.#hls === null) this.#startHls();
      this.#listener.onWay("hls", true);
    };
    const signal = AbortSignal.any([this.#signal, abort.signal]);
    return { playback: playWebrtc(video, whepAddressOf(this.#src) ?? "", failed, signal), abort };
  }

  /** WebRTC plays in an element that nobody sees until its first picture, as both cannot share one. */
  #race(): void {
    const spare = document.createElement("video");
    Object.assign(spare, { muted: true, playsInline: true });
    const { playback, abort } = this.#startWebrtc(spare);
    const late = setTimeout(() => {
      if (this.#hls === null) this.#startHls();
    }, HEAD_START_MS);
    const race = new AbortController();
    const over = (): void => {
      clearTimeout(late);
      race.abort();
    };
    const { signal } = race;
    for (const end of [this.#signal, abort.signal]) end.addEventListener("abort", over, { once: true, signal });
    const webrtcWins = (): void => {
      over();
      this.#ofHls.abort();
      this.#hls = null;
      playback.moveTo(this.#video);
      this.#listener.onWay("webrtc", false);
    };
    const hlsWins = (): void => {
      over();
      abort.abort();
      this.#ofWebrtc = null;
      this.#listener.onWay("hls", false);
    };
    spare.addEventListener("loadeddata", webrtcWins, { signal });
    this.#video.addEventListener("loadeddata", hlsWins, { signal });
  }
}
