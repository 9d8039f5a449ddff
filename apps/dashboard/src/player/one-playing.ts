/** What this module needs of a video element. */
export interface Playable extends Pick<EventTarget, "addEventListener"> {
  readonly paused: boolean;
  pause(): void;
}

const members = new Set<Playable>();

/** Of all videos on the page one plays: whichever begins pauses the others, until the signal aborts. */
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

/** Whether somebody is watching another video than this one. */
export function isAnotherPlaying(video: Playable): boolean {
  return [...members].some((other) => other !== video && !other.paused);
}
