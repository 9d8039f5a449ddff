import {
  type CaptureChoice,
  type CaptureDevices,
  type CaptureProblem,
  capture,
  capturePicture,
  captureProblem,
  captureSound,
  listDevices,
} from "./capture.ts";

export interface CaptureListener {
  onMedia(media: MediaStream): void;
  /** There is no media, or no more. `message` is the browser's own. */
  onProblem(problem: CaptureProblem, message: string): void;
  /** Comes after the media: browsers tell no names before. */
  onDevices(devices: CaptureDevices): void;
}

/** What came of a change of the devices: the choice that the media is of. */
export interface Changed {
  readonly choice: CaptureChoice;
  /** Why it is not the one that was asked for; null where it is. */
  readonly problem: CaptureProblem | null;
}

/** Has the media of one choice at a time, and gives the camera back to others with the next one. */
export class CaptureSession {
  readonly #listener: CaptureListener;
  #media: MediaStream | null = null;
  /** What the media is of. */
  #held: CaptureChoice | null = null;
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
    try {
      const media = await capture(choice);
      if (asked !== this.#asked) return stopAll(media);
      this.#media = media;
      this.#held = choice;
      this.#watch(media.getVideoTracks());
      this.#listener.onMedia(media);
      await this.#list();
    } catch (error) {
      const { name, message } = error as Error;
      if (asked === this.#asked) this.#lose(captureProblem({ name }), message);
    }
  }

  /**
   * Takes the devices of another choice in place of those that it has, in the same media, which do not stand still meanwhile. Resolves with the choice
   * that the media is of then, and why it is not this one; null where something else was asked for meanwhile.
   */
  async change(choice: CaptureChoice): Promise<Changed | null> {
    const [media, held, asked] = [this.#media, this.#held, ++this.#asked];
    if (media === null || held === null) return null;
    const isOtherPicture = choice.source !== held.source || choice.camera !== held.camera;
    const taken: MediaStreamTrack[] = [];
    let problem: CaptureProblem | null = null;
    try {
      if (isOtherPicture) taken.push(...(await capturePicture(choice)));
      if (choice.microphone !== held.microphone) taken.push(...(await captureSound(choice)));
    } catch (error) {
      problem = captureProblem(error as Error);
    }
    const isWanted = asked === this.#asked;
    if (!isWanted || problem !== null) {
      for (const track of taken) track.stop();
      return isWanted ? { choice: held, problem } : null;
    }
    const replaced = [
      ...(isOtherPicture ? media.getVideoTracks() : []),
      ...(choice.microphone === held.microphone ? [] : media.getAudioTracks()),
    ];
    this.#held = choice;
    for (const track of taken) media.addTrack(track);
    for (const track of replaced) {
      media.removeTrack(track);
      track.stop();
    }
    this.#watch(taken);
    return { choice, problem };
  }

  /** The person ends the sharing of a screen in the browser's own bar, or pulls out the camera. */
  #watch(tracks: readonly MediaStreamTrack[]): void {
    for (const track of tracks)
      track.addEventListener("ended", () => this.#media?.getVideoTracks().includes(track) && this.#lose("ended", ""));
  }

  #lose(problem: CaptureProblem, message: string): void {
    this.#release();
    this.#listener.onProblem(problem, message);
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
