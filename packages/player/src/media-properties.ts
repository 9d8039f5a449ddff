/** The properties and methods of media elements (HTML 4.8.11) that pages use, for an element around a video. */
export abstract class MediaProperties extends (globalThis.HTMLElement ?? (Object as never as typeof HTMLElement)) {
  /** The element that shows the video; null while there is none. */
  abstract get video(): HTMLVideoElement | null;

  async play(): Promise<void> {
    await this.video?.play();
  }

  pause(): void {
    this.video?.pause();
  }

  get currentTime(): number {
    return this.video?.currentTime ?? 0;
  }

  set currentTime(seconds: number) {
    if (this.video) this.video.currentTime = seconds;
  }

  get duration(): number {
    return this.video?.duration ?? Number.NaN;
  }

  get paused(): boolean {
    return this.video?.paused ?? true;
  }

  get ended(): boolean {
    return this.video?.ended ?? false;
  }

  get muted(): boolean {
    return this.video?.muted ?? true;
  }

  set muted(isMuted: boolean) {
    if (this.video) this.video.muted = isMuted;
  }

  get volume(): number {
    return this.video?.volume ?? 1;
  }

  set volume(volume: number) {
    if (this.video) this.video.volume = volume;
  }

  get playbackRate(): number {
    return this.video?.playbackRate ?? 1;
  }

  set playbackRate(rate: number) {
    if (this.video) this.video.playbackRate = rate;
  }
}
