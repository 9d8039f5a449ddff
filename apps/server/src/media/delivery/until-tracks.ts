import type { Clock } from "../../platform/clock.ts";

/** A new session announces its tracks one by one; this is how long to wait for the second one. */
const TRACKS_WITHIN_MS = 1000;
const TRACKS_LOOK_MS = 50;

/** Calls `answer` once a new session's tracks are known, or after a second: at once if they are known already. */
export function untilTracks(clock: Clock, areKnown: () => boolean, answer: () => void, waitedMs = 0): void {
  if (areKnown() || waitedMs >= TRACKS_WITHIN_MS) answer();
  else clock.after(TRACKS_LOOK_MS, () => untilTracks(clock, areKnown, answer, waitedMs + TRACKS_LOOK_MS));
}
