import type Hls from "hls.js";
import type { ErrorData } from "hls.js";
import { LiveRewind, type Placed } from "./live-rewind.ts";
import { isAnotherPlaying, joinOnePlaying } from "./one-playing.ts";
import { keepPauses } from "./pauses.ts";
import { playerStrings as text } from "./player-strings.ts";
import { type Quality, qualitiesOf } from "./qualities.ts";
import { type LiveTimeline, rewindAddress } from "./rewind.ts";

export interface PlaybackFigures {
  /** Seconds between the server's receiving a picture and its being shown; null before the first and for recordings. */
  readonly latencySeconds: number | null;
  readonly stalls: number;
}

export interface PlaybackListener {
  onFigures(figures: PlaybackFigures): void;
  /** The server refused the viewer. True where somebody sees to it; else it is a problem like others, and tried again. */
  onDenied?(): boolean;
  /** A sentence about what keeps the video from playing; null when nothing does. */
  onProblem(problem: string | null): void;
  /** The qualities to choose from; empty where the browser chooses by itself. */
  onQualities(qualities: readonly Quality[]): void;
  /** The quality that is on the screen, as the id of one of them. */
  onShown(quality: string | null): void;
}

/** The controls of a running playback. */
export interface PlaybackControl {
  /** Switches to a quality from the next segment on; null leaves the choice to the player. */
  choose(quality: string | null): void;
  /** The position in the video's time at which live playback belongs, in seconds; null before the first playlist, for recordings, and while a viewer has gone back. */
  liveEdge(): number | null;
  /** Where a live playback is; null before its first picture, and where viewers cannot go back. */
  timeline(): LiveTimeline | null;
  /** Goes to a moment, in ms since the epoch; null for the live edge. */
  goTo(dateMs: number | null): void;
  /** Continues at another address of the same video, such as one with a newer token. */
  moveTo(src: string): void;
}

export interface HlsOptions {
  readonly src: string;
  readonly live: boolean;
  /** Whether the video starts by itself. */
  readonly isStarting?: boolean;
  /** Where a recording begins. */
  readonly startSeconds?: number | null;
  /** The moment at which a live stream begins, in ms since the epoch; null for its edge. */
  readonly fromMs?: number | null;
}

const RETRY_MS = 2000;
/** Loading again for sound that came takes effect at once; this bounds what a list without it could cause. */
const SOUND_RELOAD_MS = 10_000;

/**
 * Plays one HLS address in a video element until the signal aborts. A live one that ends or fails is tried again every two seconds,
 * because its owner knows the stream to be live.
 */
export function playHls(
  video: HTMLVideoElement,
  { src, live, isStarting = true, startSeconds = null, fromMs = null }: HlsOptions,
  listener: PlaybackListener,
  signal: AbortSignal,
): PlaybackControl {
  const choice: Choice = { src, quality: null, fromMs, isStarting, startSeconds, apply: () => {}, reload: () => {} };
  const none = { liveEdge: () => null, timeline: () => null, goTo: () => {} };
  let running: Pick<PlaybackControl, keyof typeof none> = none;
  run(video, live, listener, choice, signal).then(
    (control) => {
      if (live && control) running = control;
    },
    () => listener.onProblem(text.unreachable),
  );
  return {
    choose: (quality) => {
      choice.quality = quality;
      choice.apply();
    },
    liveEdge: () => running.liveEdge(),
    timeline: () => running.timeline(),
    goTo: (dateMs) => running.goTo(dateMs),
    moveTo: (next) => {
      choice.src = next;
      choice.reload();
    },
  };
}

interface Choice extends Placed {
  src: string;
  quality: string | null;
  readonly isStarting: boolean;
  readonly startSeconds: number | null;
  apply: () => void;
}

async function run(
  video: HTMLVideoElement,
  live: boolean,
  listener: PlaybackListener,
  choice: Choice,
  signal: AbortSignal,
): Promise<Pick<PlaybackControl, "liveEdge" | "timeline" | "goTo"> | null> {
  const { default: Hls } = await import("hls.js");
  if (signal.aborted) return null;
  let current: Hls | null = null;
  let retry: ReturnType<typeof setTimeout> | undefined;
  const rewind = new LiveRewind(video, choice);
  const figuresAt = countStalls(video, signal);
  const timer = setInterval(() => listener.onFigures(figuresAt(live ? playingDateOf(video, current) : null)), 500);

  const attach = (): void => {
    // A recording continues where it was, and so does a viewer who has gone back.
    const startSeconds = live ? rewind.leave() : video.currentTime || choice.startSeconds;
    current?.destroy();
    current = null;
    if (!Hls.isSupported() || isBetterNatively(video)) return playNatively(video, choice.src, listener);
    const isAtEdge = live && choice.fromMs === null;
    current = hlsPlayer(Hls, isAtEdge, startSeconds, (data) => {
      if (isDenied(data) && listener.onDenied?.()) return;
      listener.onProblem(problemOf(data));
      tryAgain();
    });
    offerQualities(Hls, current, listener, choice);
    if (live) rewind.follow(Hls, current, startSeconds);
    if (isAtEdge) hearLateSound(Hls, current, attachForSound);
    current.loadSource(live && choice.fromMs !== null ? rewindAddress(choice.src) : choice.src);
    current.attachMedia(video);
  };
  let soundAt = Number.NEGATIVE_INFINITY;
  const attachForSound = (): void => {
    if (performance.now() - soundAt < SOUND_RELOAD_MS) return;
    soundAt = performance.now();
    attach();
  };
  choice.reload = attach;
  const tryAgain = (): void => {
    clearTimeout(retry);
    retry = setTimeout(attach, RETRY_MS);
  };

  video.addEventListener("playing", () => listener.onProblem(null), { signal });
  joinOnePlaying(video, signal);
  const goOn = (pausedAtMs: number | null): void => {
    if (!live || choice.fromMs !== null) return;
    if (pausedAtMs !== null && rewind.timeline() !== null) return rewind.goTo(pausedAtMs);
    const edge = current?.liveSyncPosition;
    if (edge != null && edge > video.currentTime) video.currentTime = edge;
  };
  const pauses = keepPauses(video, () => rewind.timeline()?.atMs ?? null, goOn, signal);
  // A browser may refuse to start by itself; the video's own controls are there for that. A live picture that comes by itself
  // interrupts nobody who watches a recording.
  let isWanted = choice.isStarting;
  const want = (): void => {
    isWanted = true;
  };
  video.addEventListener("play", want, { signal });
  const start = (): void => {
    if (isWanted && !pauses.byHand() && !(live && isAnotherPlaying(video))) startPlaying(video);
  };
  video.addEventListener("loadeddata", start, { signal });
  const onEnded = (): void => {
    choice.fromMs = null;
    tryAgain();
  };
  if (live) video.addEventListener("ended", onEnded, { signal });
  signal.addEventListener("abort", () => {
    clearInterval(timer);
    clearTimeout(retry);
    current?.destroy();
    video.removeAttribute("src");
  });
  attach();
  return {
    liveEdge: () => (choice.fromMs === null ? (current?.liveSyncPosition ?? null) : null),
    timeline: () => rewind.timeline(),
    goTo: (dateMs) => {
      pauses.forget();
      rewind.goTo(dateMs);
    },
  };
}

function hlsPlayer(
  Player: typeof Hls,
  isAtEdge: boolean,
  startSeconds: number | null,
  onFatal: (data: ErrorData) => void,
): Hls {
  const hls = new Player({
    // The distance to the live edge is the playlist's own hold-back: hls.js takes it when nothing is set here.
    startPosition: startSeconds ?? -1,
    lowLatencyMode: isAtEdge,
    // At a rate of 1 the player never catches up after a stall (measured: 1.2 s behind with this, 2.4 s without).
    maxLiveSyncPlaybackRate: isAtEdge ? 1.5 : 1,
    backBufferLength: 10,
    // Our segments are fMP4 already, so there is nothing to work on; and a blob worker would need its own CSP entry.
    enableWorker: false,
  });
  hls.on(Player.Events.ERROR, (_event, data) => {
    if (data.fatal) onFatal(data);
  });
  return hls;
}

/**
 * Reloads a live stream that had only pictures when its first sound comes. hls.js reads the list of tracks once, but the playlist of the pictures
 * reports all renditions.
 */
function hearLateSound(Player: typeof Hls, hls: Hls, reload: () => void): void {
  hls.on(Player.Events.LEVEL_UPDATED, (_event, { details }) => {
    const isSilent = hls.audioTracks.length === 0 && hls.levels.some(({ width }) => width > 0);
    const reports = details.renditionReports ?? [];
    if (isSilent && reports.some(({ URI }) => URI?.includes("/audio/"))) reload();
  });
}

function offerQualities(Player: typeof Hls, hls: Hls, listener: PlaybackListener, choice: Choice): void {
  let qualities: Quality[] = [];
  choice.apply = () => {
    hls.nextLevel = qualities.find(({ id }) => id === choice.quality)?.level ?? -1;
  };
  const offer = (): void => {
    qualities = qualitiesOf(hls.levels);
    listener.onQualities(qualities);
  };
  hls.on(Player.Events.MANIFEST_PARSED, () => {
    offer();
    if (choice.quality !== null) choice.apply();
  });
  // A level that will not load is taken out, and the others get new places.
  hls.on(Player.Events.LEVELS_UPDATED, offer);
  hls.on(Player.Events.LEVEL_SWITCHED, (_event, { level }) => {
    listener.onShown(qualities.find((quality) => quality.level === level)?.id ?? null);
  });
}

/** Starts with sound where that is wanted and the browser lets a page do so; else without. */
function startPlaying(video: HTMLVideoElement): void {
  video.play().catch((error: unknown) => {
    if (video.muted || !(error instanceof DOMException) || error.name !== "NotAllowedError") return;
    video.muted = true;
    video.play().catch(() => {});
  });
}

/** Phones of Apple have no MediaSource that plays in the background, over AirPlay and on the lock screen; their own player does. */
function isBetterNatively(video: HTMLVideoElement): boolean {
  const hasOnlyManaged = !("MediaSource" in globalThis) && "ManagedMediaSource" in globalThis;
  return hasOnlyManaged && video.canPlayType("application/vnd.apple.mpegurl") !== "";
}

/** Safari before ManagedMediaSource. It knows neither stalls nor parts as well as hls.js, but it plays. */
function playNatively(video: HTMLVideoElement, src: string, listener: PlaybackListener): void {
  if (video.canPlayType("application/vnd.apple.mpegurl") === "") listener.onProblem(text.unsupported);
  else video.src = src;
}

function playingDateOf(video: HTMLVideoElement, hls: Hls | null): number | null {
  if (video.paused || video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) return null;
  return hls?.playingDate?.getTime() ?? null;
}

function countStalls(video: HTMLVideoElement, signal: AbortSignal): (playingDate: number | null) => PlaybackFigures {
  let stalls = 0;
  let hasPlayed = false;
  video.addEventListener("playing", () => (hasPlayed = true), { signal });
  video.addEventListener("waiting", () => void (hasPlayed && !video.seeking && stalls++), { signal });
  return (playingDate) => ({
    stalls,
    latencySeconds: playingDate === null ? null : (Date.now() - playingDate) / 1000,
  });
}

const isDenied = ({ response }: ErrorData): boolean => response?.code === 401 || response?.code === 403;

function problemOf(data: ErrorData): string {
  if (isDenied(data)) return text.refused;
  if (data.type === "mediaError") return text.undecodable;
  return text.retrying(text.unreachable);
}
