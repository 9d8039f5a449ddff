import { type Credential, playlistAddress, posterAddress } from "./addresses.ts";
import type { Credentials } from "./credentials.ts";
import { type MountedPlayer, mountPlayer, type PlayerListener, type PlayerOptions } from "./player.ts";
import { playerStrings as text } from "./player-strings.ts";
import { fetchVideo, type VideoInfo } from "./video-state.ts";

/** What viewers see: the video, or words that say why there is none. */
export type StageState =
  | "loading"
  | "offline"
  | "waiting"
  | "not-found"
  | "unreachable"
  | "denied"
  | "ended"
  | "reconnecting"
  | "playing";

/** The states in which there is no video. */
type StageNote = Exclude<StageState, "playing" | "reconnecting">;

export interface StageOptions {
  /** Origin of the server. */
  readonly server: string;
  readonly playbackId: string;
  readonly credentials: Credentials;
  /** Address of the page's own picture, in place of the video's. */
  readonly poster?: string;
  readonly player: Omit<PlayerOptions, "src" | "live" | "poster" | "reportedAs">;
}

export interface StageListener extends PlayerListener {
  /** What is shown, and what the server told of the video; null before its first answer. */
  onState(state: StageState, video: VideoInfo | null): void;
}

/** A video that is there. */
interface Playing {
  /** When the server was last asked whether it still is. */
  lookedAt: number;
  readonly abort: AbortController;
  player: MountedPlayer | null;
}

/** How often a stage without a picture asks the server for one. The spread keeps many pages from asking at the same time. */
const ASK_AGAIN_MS = 4000;
const ASK_AGAIN_SPREAD_MS = 2000;
/** A refused viewer is asked about less often: that may be a request to the customer's server. */
const DENIED_AGAIN_MS = 15_000;
/** How often the number of viewers of a public live stream is asked for. */
const COUNT_AGAIN_MS = 15_000;

const NOTES: Readonly<Record<StageNote, string>> = {
  loading: text.loadingVideo,
  offline: text.offline,
  waiting: text.notReady,
  "not-found": text.notFound,
  unreachable: text.noServer,
  denied: text.refused,
  ended: text.ended,
};

/** The state that a stage without a picture shows. */
export function stateOf(video: VideoInfo, wasLive: boolean): StageNote | null {
  if (video.state === "live" || video.state === "recording") return null;
  if (video.state === "not-ready") return "waiting";
  return video.state === "offline" && wasLive ? "ended" : video.state;
}

/** Shows the video of a playback id whenever there is one, and words with a picture behind them while there is none. */
export class Stage {
  readonly #place: ShadowRoot;
  readonly #options: StageOptions;
  readonly #listener: StageListener;
  readonly #signal: AbortSignal;
  #playing: Playing | null = null;
  #askAgain: ReturnType<typeof setTimeout> | undefined;
  #renewal: ReturnType<typeof setTimeout> | undefined;
  /** The last picture of a public broadcast that was watched here. */
  #lastPicture: HTMLCanvasElement | null = null;
  #video: VideoInfo | null = null;
  /** Numbers what was asked: an older answer, for an older credential, does not count. */
  #asked = 0;

  constructor(place: ShadowRoot, options: StageOptions, listener: StageListener, signal: AbortSignal) {
    this.#place = place;
    this.#options = options;
    this.#listener = listener;
    this.#signal = signal;
    signal.addEventListener("abort", () => {
      this.#stop();
      clearTimeout(this.#askAgain);
    });
    this.#note("loading", null);
    // While the server is asked, as it is large. Where WebRTC is tried first, it may not be needed.
    if (!options.player.isLowLatency) void import("hls.js").catch(() => {});
    void this.#ask(false);
  }

  /** Begins anew with another credential. */
  restart(): void {
    this.#stop();
    void this.#ask(false);
  }

  goLive(): void {
    this.#playing?.player?.goLive();
  }

  async #ask(wasLive: boolean): Promise<void> {
    clearTimeout(this.#askAgain);
    const asked = ++this.#asked;
    const { server, playbackId, credentials } = this.#options;
    const [video, credential] = await Promise.all([
      fetchVideo(server, playbackId),
      credentials.current().catch(() => null),
    ]);
    if (this.#signal.aborted || this.#playing !== null || asked !== this.#asked) return;
    this.#video = video;
    if (!video.isPublic) this.#lastPicture = null;
    const state = stateOf(video, wasLive);
    if (state === null) return this.#play(video, credential);
    this.#note(state, credential);
    this.#askLater(wasLive);
  }

  #askLater(wasLive: boolean, inMs = ASK_AGAIN_MS): void {
    clearTimeout(this.#askAgain);
    this.#askAgain = setTimeout(() => void this.#ask(wasLive), inMs + Math.random() * ASK_AGAIN_SPREAD_MS);
  }

  #play(video: VideoInfo, credential: Credential | null): void {
    const { server, playbackId, player } = this.#options;
    const live = video.state === "live";
    const abort = new AbortController();
    const playing: Playing = { abort, player: null, lookedAt: performance.now() };
    this.#playing = playing;
    let shown: HTMLVideoElement | null = null;
    const listener: PlayerListener = {
      ...this.#listener,
      onVideo: (element) => {
        shown = element;
        this.#listener.onVideo?.(element);
      },
      onDenied: () => void this.#denied(playing),
      onProblem: () => void this.#lookAgain(playing, live),
      onStill: (isStill) => this.#listener.onState(isStill ? "reconnecting" : "playing", this.#video),
      onEnded: () => {
        this.#lastPicture = video.isPublic ? pictureOf(shown) : null;
        this.#stop();
        void this.#ask(true);
      },
    };
    const options: PlayerOptions = {
      ...player,
      src: playlistAddress(server, playbackId, credential),
      live,
      ...this.#poster(video, credential),
      reportedAs: playbackId,
    };
    playing.player = mountPlayer(this.#place, options, listener, abort.signal);
    this.#listener.onState("playing", video);
    if (live && video.isPublic) this.#countWhile(abort.signal);
    this.#renewInTime(playing);
  }

  /** A live video that has a problem may have ended. */
  async #lookAgain(playing: Playing, live: boolean): Promise<void> {
    if (!live || performance.now() - playing.lookedAt < ASK_AGAIN_MS) return;
    playing.lookedAt = performance.now();
    const { state } = await fetchVideo(this.#options.server, this.#options.playbackId);
    if (this.#playing !== playing || state === "live" || state === "unreachable") return;
    this.#stop();
    void this.#ask(true);
  }

  /** A token that expires is renewed before, so that nobody sees it expire. */
  #renewInTime(playing: Playing): void {
    clearTimeout(this.#renewal);
    const inMs = this.#options.credentials.renewalMs(Date.now());
    if (inMs === null) return;
    this.#renewal = setTimeout(() => {
      if (this.#options.credentials.renew()) void this.#moveOn(playing);
      else this.#renewInTime(playing);
    }, inMs);
  }

  async #denied(playing: Playing): Promise<void> {
    if (this.#playing !== playing) return;
    if (this.#options.credentials.renew() && (await this.#moveOn(playing))) return;
    if (this.#playing !== playing) return;
    this.#stop();
    this.#note("denied", null);
    // The policy may change, or the page's function may have a token later.
    this.#askLater(false, DENIED_AGAIN_MS);
  }

  /** Plays on with the credential of now. */
  async #moveOn(playing: Playing): Promise<boolean> {
    const { server, playbackId, credentials } = this.#options;
    const credential = await credentials.current().catch(() => null);
    if (this.#playing !== playing) return false;
    this.#renewInTime(playing);
    if (credential === null) return false;
    playing.player?.moveTo(playlistAddress(server, playbackId, credential));
    return true;
  }

  #stop(): void {
    clearTimeout(this.#renewal);
    this.#playing?.abort.abort();
    this.#playing = null;
  }

  /** Keeps the number of viewers up to date until the signal aborts. */
  #countWhile(signal: AbortSignal): void {
    const again = setInterval(async () => {
      const video = await fetchVideo(this.#options.server, this.#options.playbackId);
      if (!signal.aborted && video.state === "live") this.#listener.onState("playing", video);
    }, COUNT_AGAIN_MS);
    signal.addEventListener("abort", () => clearInterval(again));
  }

  #note(state: StageNote, credential: Credential | null): void {
    const frame = document.createElement("div");
    frame.className = "w-player-stage";
    const note = document.createElement("p");
    note.setAttribute("role", "status");
    note.dir = "auto";
    note.textContent = NOTES[state];
    const { poster } = this.#poster(this.#video, credential);
    const picture = this.#lastPicture ?? (poster === undefined ? null : pictureAt(poster));
    if (picture !== null) frame.append(picture);
    frame.append(note);
    this.#place.replaceChildren(frame);
    this.#listener.onState(state, this.#video);
  }

  /** The page's picture, or the video's for viewers who may see it. */
  #poster(video: VideoInfo | null, credential: Credential | null): { readonly poster?: string } {
    const { poster } = this.#options;
    if (poster !== undefined) return { poster };
    if (!video?.poster || (!video.isPublic && credential === null)) return {};
    return { poster: posterAddress(video.poster, credential) };
  }
}

function pictureAt(address: string): HTMLImageElement {
  const picture = document.createElement("img");
  picture.alt = "";
  picture.src = address;
  picture.addEventListener("error", () => picture.remove());
  return picture;
}

/** A copy of the picture that a video shows; null where it shows none. */
function pictureOf(video: HTMLVideoElement | null): HTMLCanvasElement | null {
  if (video === null || video.videoWidth === 0) return null;
  const canvas = document.createElement("canvas");
  canvas.width = video.videoWidth;
  canvas.height = video.videoHeight;
  canvas.getContext("2d")?.drawImage(video, 0, 0);
  canvas.setAttribute("aria-hidden", "true");
  return canvas;
}
