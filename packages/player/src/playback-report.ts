/** The part of a video element that a report uses. */
export type Reported = Pick<EventTarget, "addEventListener"> & { readonly paused: boolean; readonly seeking: boolean };

export interface ReportOptions {
  readonly playbackId: string;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  /** Takes the body of one report. */
  readonly send: (body: string) => void;
}

const HEARTBEAT_MS = 10_000;

/**
 * Tells the server how a viewer's playback goes: time to the first picture, time played, time waited for data, errors. Reports every ten
 * seconds and at the end, in the words of `POST /analytics/log`.
 */
export function reportPlayback(
  video: Reported,
  { playbackId, now, send }: ReportOptions,
  signal: AbortSignal,
): { fail(): void } {
  const session = newSession();
  const time = { playing: 0, waiting: 0 };
  const begunAt = now();
  let state: keyof typeof time | null = null;
  let since = begunAt;
  let firstPictureMs: number | null = null;
  let isFirstToldOf = false;
  let hasFailed = false;

  const enter = (next: typeof state): void => {
    if (state) time[state] += now() - since;
    since = now();
    state = next;
  };
  const tell = (): void => {
    enter(state);
    const heartbeat = {
      type: "heartbeat",
      timestamp: Date.now(),
      time_playing_ms: Math.round(time.playing),
      time_waiting_ms: Math.round(time.waiting),
      ...(firstPictureMs !== null && !isFirstToldOf && { play_to_first_frame_ms: Math.round(firstPictureMs) }),
    };
    isFirstToldOf = firstPictureMs !== null;
    const events = [heartbeat, ...(hasFailed ? [{ type: "error", timestamp: Date.now() }] : [])];
    hasFailed = false;
    time.playing = 0;
    time.waiting = 0;
    send(JSON.stringify({ playback_id: playbackId, session_id: session, events }));
  };

  video.addEventListener("playing", () => {
    firstPictureMs ??= now() - begunAt;
    enter("playing");
  });
  // A viewer who seeks expects to wait.
  video.addEventListener("waiting", () => enter(firstPictureMs === null || video.seeking ? null : "waiting"));
  for (const event of ["pause", "ended", "emptied"]) video.addEventListener(event, () => enter(null));

  const timer = setInterval(tell, HEARTBEAT_MS);
  signal.addEventListener("abort", () => {
    clearInterval(timer);
    tell();
  });
  return {
    fail: () => {
      hasFailed = true;
    },
  };
}

/** Sends a report to the server of a video, even while the browser closes the page. A body of type text/plain needs no preflight request. */
export function sendReport(src: string, body: string): void {
  navigator.sendBeacon(new URL("/analytics/log", new URL(src, window.location.href)), body);
}

/** Random, 32 hexadecimal digits. Browsers have `crypto.randomUUID` on HTTPS and localhost alone, and a Weir may be neither. */
const newSession = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
