import { mountPlayer } from "../player/player.ts";
import { watchStrings as text } from "../strings/watch-strings.ts";
import {
  type Credential,
  credentialInMessage,
  credentialInQuery,
  playlistAddress,
  posterAddress,
} from "./credential.ts";
import { fetchVideo, fetchViews, type VideoState } from "./video-state.ts";
import "./watch.css";

/** How often a page without a picture asks the server for one. The spread keeps many pages from asking at the same time. */
const ASK_AGAIN_MS = 4000;
const ASK_AGAIN_SPREAD_MS = 2000;

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

  constructor(place: HTMLElement) {
    this.#place = place;
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
    const { state, isPublic } = await fetchVideo(playbackId);
    if (this.#playing !== null) return;
    if (isPublic && !isEmbedded) this.#views ??= fetchViews(playbackId);
    if (!isPublic) this.#lastPicture = null;
    if (state === "live" || state === "recording") this.#play(state === "live", isPublic);
    else {
      this.#note(wasLive && state === "offline" ? text.ended : NOTES[state]);
      this.#askAgain = setTimeout(() => void this.#ask(wasLive), ASK_AGAIN_MS + Math.random() * ASK_AGAIN_SPREAD_MS);
    }
  }

  #play(live: boolean, isPublic: boolean): void {
    const abort = new AbortController();
    this.#playing = abort;
    const frame = document.createElement("div");
    frame.className = "frame";
    this.#place.replaceChildren(frame, ...(isEmbedded ? [] : [this.#words()]));
    const onEnded = (): void => {
      this.#lastPicture = isPublic ? pictureOf(frame.querySelector("video")) : null;
      this.#stop();
      void this.#ask(true);
    };
    const src = playlistAddress(playbackId, this.#credential);
    const poster = posterAddress(playbackId, live, this.#credential);
    const player = { src, live, poster, label: document.title, reportedAs: playbackId };
    mountPlayer(frame, player, { onEnded }, abort.signal);
  }

  #stop(): void {
    this.#playing?.abort();
    this.#playing = null;
  }

  #note(sentence: string): void {
    const frame = document.createElement("div");
    frame.className = "frame";
    const note = document.createElement("p");
    note.setAttribute("role", "status");
    note.textContent = sentence;
    if (this.#lastPicture !== null) frame.append(this.#lastPicture);
    frame.append(note);
    this.#place.replaceChildren(frame, ...(isEmbedded ? [] : [this.#words()]));
  }

  /** The title, and how often a public video was watched. */
  #words(): HTMLElement {
    const words = document.createElement("header");
    const title = document.createElement("h1");
    title.textContent = document.title;
    const views = document.createElement("p");
    void this.#views?.then((count) => {
      if (count > 0) views.textContent = text.views(count);
    });
    words.append(title, views);
    return words;
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
