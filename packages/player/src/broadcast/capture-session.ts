import {
  type CaptureChoice,
  type CaptureDevices,
  type CaptureProblem,
  capture,
  captureProblem,
  listDevices,
} from "./capture.ts";

export interface CaptureListener {
  onMedia(media: MediaStream): void;
  /** There is no media, or no more. `message` is the browser's own. */
  onProblem(problem: CaptureProblem, message: string): void;
  /** Comes after the media: browsers tell no names before. */
  onDevices(devices: CaptureDevices): void;
}

/** Has the media of one choice at a time, and gives the camera back to others with the next one. */
export class CaptureSession {
  readonly #listener: CaptureListener;
  #media: MediaStream | null = null;
  /** Numbers what was asked of the browser: the answer to an older question does not count. */
  #asked = 0;

  constructor(listener: CaptureListener, signal: AbortSignal) {
    this.#listener = listener;
    navigator.mediaDevices.addEventListener("devicechange", () => void this.#list(), { signal });
    signal.addEventListener("abort", () => this.#release());
  }

  get media(): MediaStream | null {
    return this.#media;
  }

  async ask(choice: CaptureChoice): Promise<void> {
    this.#release();
    const asked = this.#asked;
    const lose = (problem: CaptureProblem, message: string): void => {
      if (asked !== this.#asked) return;
      this.#release();
      this.#listener.onProblem(problem, message);
    };
    try {
      const media = await capture(choice);
      if (asked !== this.#asked) return stopAll(media);
      this.#media = media;
      // The person ends the sharing of a screen in the browser's own bar, or pulls out the camera.
      for (const track of media.getVideoTracks()) track.addEventListener("ended", () => lose("ended", ""));
      this.#listener.onMedia(media);
      await this.#list();
    } catch (error) {
      const { name, message } = error as Error;
      lose(captureProblem({ name }), message);
    }
  }

  async #list(): Promise<void> {
    const asked = this.#asked;
    const devices = await listDevices();
    if (asked === this.#asked && this.#media) this.#listener.onDevices(devices);
  }

  #release(): void {
    this.#asked++;
    if (this.#media) stopAll(this.#media);
    this.#media = null;
  }
}

function stopAll(media: MediaStream): void {
  for (const track of media.getTracks()) track.stop();
}
