import { type PlaybackControl, type PlaybackListener, playHls } from "./hls-playback.ts";
import type { LiveTimeline } from "./rewind.ts";
import { playWebrtc, whepAddressOf } from "./webrtc/webrtc-playback.ts";

export interface PlaybackOptions {
  /** Address of an HLS playlist. */
  readonly src: string;
  readonly live: boolean;
}

/** How a video reaches its element: by HLS, or, while a viewer of a live stream asks for real time, by WebRTC. */
export class Playback {
  readonly #video: HTMLVideoElement;
  readonly #live: boolean;
  readonly #listener: PlaybackListener;
  readonly #signal: AbortSignal;
  #src: string;
  #hls: PlaybackControl;
  #ofHls = new AbortController();
  #ofWebrtc: AbortController | null = null;
  /** Where HLS was last: WebRTC cannot say how far viewers can go back. */
  #timeline: LiveTimeline | null = null;

  constructor(video: HTMLVideoElement, options: PlaybackOptions, listener: PlaybackListener, signal: AbortSignal) {
    this.#video = video;
    this.#live = options.live;
    this.#src = options.src;
    this.#listener = listener;
    this.#signal = signal;
    this.#hls = this.#startHls();
  }

  get src(): string {
    return this.#src;
  }

  /** Whether there is an address for real time, and the browser has WebRTC. */
  get hasRealTime(): boolean {
    return this.#live && whepAddressOf(this.#src) !== null && typeof RTCPeerConnection !== "undefined";
  }

  get isRealTime(): boolean {
    return this.#ofWebrtc !== null;
  }

  /** Plays in real time until `playHls`. `onFailed` is called when that does not work or no longer does; HLS then plays on. */
  playRealTime(onFailed: () => void): void {
    this.timeline();
    this.#ofHls.abort();
    this.#listener.onQualities([]);
    this.#ofWebrtc = new AbortController();
    const failed = (): void => {
      this.playHls();
      onFailed();
    };
    const signal = AbortSignal.any([this.#signal, this.#ofWebrtc.signal]);
    playWebrtc(this.#video, whepAddressOf(this.#src) ?? "", failed, signal);
  }

  /** Ends real time. `fromMs` is the moment to begin at; null for the live edge. */
  playHls(fromMs: number | null = null): void {
    this.#ofWebrtc?.abort();
    this.#ofWebrtc = null;
    this.#hls = this.#startHls(fromMs);
  }

  choose(quality: string | null): void {
    this.#hls.choose(quality);
  }

  liveEdge(): number | null {
    return this.#hls.liveEdge();
  }

  timeline(): LiveTimeline | null {
    if (this.isRealTime) {
      const now = Date.now();
      return this.#timeline && { ...this.#timeline, atMs: now, edgeMs: now };
    }
    this.#timeline = this.#hls.timeline();
    return this.#timeline;
  }

  /** Goes to a moment, in ms since the epoch; null for the live edge. Only HLS goes back. */
  goTo(dateMs: number | null): void {
    if (!this.isRealTime) this.#hls.goTo(dateMs);
    else if (dateMs !== null) this.playHls(dateMs);
  }

  /** Continues at another address of the same video, such as one with a newer token. */
  moveTo(src: string): void {
    this.#src = src;
    if (!this.isRealTime) this.#hls.moveTo(src);
  }

  #startHls(fromMs: number | null = null): PlaybackControl {
    this.#ofHls = new AbortController();
    const signal = AbortSignal.any([this.#signal, this.#ofHls.signal]);
    return playHls(this.#video, this.#src, this.#live, this.#listener, signal, fromMs);
  }
}
