/** A live picture that was paused for longer than this does not go on where it was by itself: the window that it was in is gone. */
const RESUME_MS = 2000;

/**
 * Remembers that a viewer paused, so that no reload starts the video again. `onLongPause` is called when the video goes on after a long pause, with
 * what `moment` returned when it began.
 */
export function keepPauses<Moment>(
  video: HTMLVideoElement,
  moment: () => Moment,
  onLongPause: (pausedAt: Moment) => void,
  signal: AbortSignal,
): { byHand(): boolean; forget(): void } {
  let paused: { readonly at: number; readonly moment: Moment } | null = null;
  // A video also pauses at its end and when its source is removed; no viewer pressed pause then.
  const onPause = (): void => {
    if (!video.ended) paused ??= { at: performance.now(), moment: moment() };
  };
  const onPlay = (): void => {
    const before = paused;
    paused = null;
    if (before !== null && performance.now() - before.at > RESUME_MS) onLongPause(before.moment);
  };
  video.addEventListener("pause", onPause, { signal });
  video.addEventListener("play", onPlay, { signal });
  const forget = (): void => {
    paused = null;
  };
  return { byHand: () => paused !== null, forget };
}
