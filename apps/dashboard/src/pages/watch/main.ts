import type { WeirPlayer } from "../../../../../packages/player/src/index.ts";
import "../../../../../packages/player/src/index.ts";
import { absoluteDay } from "../../shared/lib/moments.ts";
import { watchStrings as text } from "../../shared/strings/watch-strings.ts";
import {
  type Credential,
  credentialInMessage,
  credentialInQuery,
  playlistAddress,
  posterAddress,
} from "./credential.ts";
import { fetchVideo, fetchViews, type Video, type VideoState } from "./video-state.ts";
import "./watch.css";

/** How often a page without a picture asks the server for one. The spread keeps many pages from asking at the same time. */
const ASK_AGAIN_MS = 4000;
const ASK_AGAIN_SPREAD_MS = 2000;

/** How often the page of a public live stream asks how many watch it. */
const COUNT_AGAIN_MS = 15_000;

const NOTES: Readonly<Record<Exclude<VideoState, "live" | "recording">, string>> = {
  offline: text.offline,
  "not-ready": text.notReady,
  "not-found": text.notFound,
  unreachable: text.unreachable,
};

const [, kind = "", playbackId = ""] = /^\/(watch|embed)\/([^/]+)/.exec(window.location.pathname) ?? [];
const isEmbedded = kind === "embed";

class WatchPage {
  readonly #place: HTMLElement;
  #credential: Credential | null = credentialInQuery(window.location.search);
  #playing: AbortController | null = null;
  #askAgain: ReturnType<typeof setTimeout> | undefined;
  /** The last picture of a public broadcast that was watched here. */
  #lastPicture: HTMLCanvasElement | null = null;
  /** Null until they are known, and for gated videos. */
  #views: Promise<number> | null = null;
  #isPublic = false;
  /** Numbers what was told: an older answer does not replace a newer one. */
  #told = 0;
  /** The title, and below it what anybody may know of a public video. */
  readonly #words = document.createElement("header");
  readonly #facts = document.createElement("p");

  constructor(place: HTMLElement) {
    this.#place = place;
    const title = document.createElement("h1");
    title.textContent = document.title;
    this.#words.append(title, this.#facts);
  }

  start(): void {
    // The last report of a page that goes away.
    window.addEventListener("pagehide", () => this.#stop());
    window.addEventListener("pageshow", ({ persisted }) => persisted && void this.#ask());
    document.documentElement.dataset.kind = kind;
    this.#note(text.loading);
    if (isEmbedded && window.parent !== window) {
      window.addEventListener("message", ({ data, source }) => {
        const credential = source === window.parent ? credentialInMessage(data) : null;
        if (credential !== null) this.#playWith(credential);
      });
      window.parent.postMessage({ type: "weir:ready", playbackId }, "*");
    }
    void this.#ask();
  }

  #playWith(credential: Credential): void {
    this.#credential = credential;
    this.#stop();
    void this.#ask();
  }

  async #ask(wasLive = false): Promise<void> {
    clearTimeout(this.#askAgain);
    const video = await fetchVideo(playbackId);
    const { state, isPublic } = video;
    if (this.#playing !== null) return;
    this.#isPublic = isPublic;
    if (isPublic && !isEmbedded) this.#views ??= fetchViews(playbackId);
    if (!isPublic) this.#lastPicture = null;
    void this.#tell(video);
    if (state === "live" || state === "recording") this.#play(video);
    else {
      this.#note(wasLive && state === "offline" ? text.ended : NOTES[state], video.poster);
      this.#askAgain = setTimeout(() => void this.#ask(wasLive), ASK_AGAIN_MS + Math.random() * ASK_AGAIN_SPREAD_MS);
    }
  }

  #play({ state, isPublic, poster }: Video): void {
    const live = state === "live";
    const abort = new AbortController();
    this.#playing = abort;
    const frame = document.createElement("div");
    frame.className = "frame";
    this.#place.replaceChildren(frame, ...(isEmbedded ? [] : [this.#words]));
    if (live && isPublic && !isEmbedded) this.#countWhile(abort.signal);
    const player = document.createElement("weir-player") as WeirPlayer;
    player.setAttribute("src", playlistAddress(playbackId, this.#credential));
    player.setAttribute("label", document.title);
    player.setAttribute("reported-as", playbackId);
    player.toggleAttribute("live", live);
    if (poster !== null) player.setAttribute("poster", posterAddress(poster, this.#credential));
    const onEnded = (): void => {
      this.#lastPicture = isPublic ? pictureOf(player.video) : null;
      this.#stop();
      void this.#ask(true);
    };
    if (live) player.addEventListener("ended", onEnded, { signal: abort.signal });
    abort.signal.addEventListener("abort", () => player.remove());
    frame.append(player);
  }

  #stop(): void {
    this.#playing?.abort();
    this.#playing = null;
  }

  /** Keeps the number of viewers up to date until the signal aborts. */
  #countWhile(signal: AbortSignal): void {
    const again = setInterval(async () => {
      const video = await fetchVideo(playbackId);
      if (!signal.aborted && video.state === "live") void this.#tell(video);
    }, COUNT_AGAIN_MS);
    signal.addEventListener("abort", () => clearInterval(again));
  }

  #note(sentence: string, poster: string | null = null): void {
    const frame = document.createElement("div");
    frame.className = "frame";
    const note = document.createElement("p");
    note.setAttribute("role", "status");
    note.textContent = sentence;
    const picture = this.#lastPicture ?? (poster === null ? null : this.#pictureAt(poster));
    if (picture !== null) frame.append(picture);
    frame.append(note);
    this.#place.replaceChildren(frame, ...(isEmbedded ? [] : [this.#words]));
  }

  /** The last picture of the stream, for viewers who may see it. */
  #pictureAt(path: string): HTMLImageElement | null {
    if (!this.#isPublic && this.#credential === null) return null;
    const picture = document.createElement("img");
    picture.alt = "";
    picture.src = posterAddress(path, this.#credential);
    picture.addEventListener("error", () => picture.remove());
    return picture;
  }

  /** How many watch a public video and watched it before, and when it began. */
  async #tell({ state, startedAt, viewers }: Video): Promise<void> {
    const told = ++this.#told;
    const views = (await this.#views) ?? 0;
    if (told !== this.#told) return;
    const when = state === "offline" ? text.lastLive : state === "live" ? text.started : absoluteDay;
    this.#facts.textContent = [
      ...(viewers !== null && viewers > 0 ? [text.watching(viewers)] : []),
      ...(startedAt === null ? [] : [when(startedAt)]),
      ...(views > 0 ? [text.views(views)] : []),
    ].join(" · ");
  }
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

const place = document.getElementById("watch");
if (place) new WatchPage(place).start();
