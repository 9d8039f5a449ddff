/** The part of a video element that this module uses. */
export interface Playable extends Pick<EventTarget, "addEventListener"> {
  readonly paused: boolean;
  pause(): void;
}

const members = new Set<Playable>();

/** Only one video on the page plays: a video that starts pauses the others, until the signal aborts. */
export function joinOnePlaying(video: Playable, signal: AbortSignal): void {
  members.add(video);
  signal.addEventListener("abort", () => members.delete(video), { once: true });
  video.addEventListener(
    "play",
    () => {
      for (const other of members) if (other !== video && !other.paused) other.pause();
    },
    { signal },
  );
}

/** True while another video than this one is playing. */
export function isAnotherPlaying(video: Playable): boolean {
  return [...members].some((other) => other !== video && !other.paused);
}
