import css from "./player.css?inline";
import { type MountedPlayer, mountPlayer } from "./player.ts";
import { playerStrings as text } from "./player-strings.ts";

/** Attributes that a running player cannot take over: it is made again. `src` is not among them, as a new token must not interrupt the video. */
const MADE_OF = ["live", "label", "poster", "show-latency", "reported-as"];

/** Made when the first player is: a server that renders the page has no style sheets. */
let sheet: CSSStyleSheet | null = null;

function styles(): CSSStyleSheet {
  if (sheet === null) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
  }
  return sheet;
}

/**
 * `<weir-player src="https://your-weir/hls/{playbackId}/index.m3u8" live>`: a player that starts by itself, muted.
 *
 * Attributes: `src`, the address of an HLS playlist; `live` for a live stream; `label`, which names the video for screen readers; `poster`, the address
 * of a picture to show before; `show-latency`; `reported-as`, the playback id that the playback is reported of.
 *
 * Events: those of media elements, which do not bubble; `figures`, a `CustomEvent` twice a second whose `detail` is `PlaybackFigures`.
 */
export class WeirPlayer extends (globalThis.HTMLElement ?? (Object as never as typeof HTMLElement)) {
  static readonly observedAttributes = ["src", ...MADE_OF];
  #player: MountedPlayer | null = null;
  #abort: AbortController | null = null;
  #video: HTMLVideoElement | null = null;
  #path = "";

  /** The element that shows the video; null while the player is on no page, or has no address. */
  get video(): HTMLVideoElement | null {
    return this.#video;
  }

  connectedCallback(): void {
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [styles()];
    this.#start();
  }

  disconnectedCallback(): void {
    this.#stop();
  }

  attributeChangedCallback(name: string, before: string | null, value: string | null): void {
    if (!this.isConnected || before === value) return;
    if (name === "src" && this.#player && value !== null && pathOf(value) === this.#path) this.#player.moveTo(value);
    else this.#start();
  }

  #start(): void {
    this.#stop();
    const src = this.getAttribute("src");
    const root = this.shadowRoot;
    if (!src || !root) return;
    this.#abort = new AbortController();
    this.#path = pathOf(src);
    const poster = this.getAttribute("poster");
    const reportedAs = this.getAttribute("reported-as");
    const options = {
      src,
      live: this.hasAttribute("live"),
      label: this.getAttribute("label") ?? text.label,
      ...(poster !== null && { poster }),
      ...(reportedAs !== null && { reportedAs }),
      isLatencyShown: this.hasAttribute("show-latency"),
    };
    const listener = {
      onFigures: (detail: unknown) => void this.dispatchEvent(new CustomEvent("figures", { detail })),
      onVideo: (video: HTMLVideoElement) => {
        this.#video = video;
        for (const event of MEDIA_EVENTS) video.addEventListener(event, this.#tell);
      },
    };
    this.#player = mountPlayer(root, options, listener, this.#abort.signal);
  }

  #stop(): void {
    this.#abort?.abort();
    for (const event of MEDIA_EVENTS) this.#video?.removeEventListener(event, this.#tell);
    this.#abort = null;
    this.#player = null;
    this.#video = null;
  }

  readonly #tell = ({ type }: Event): void => void this.dispatchEvent(new Event(type));
}

/** The events of media elements (HTML 4.8.11.16), without those of loading in parts, which nobody can use. */
const MEDIA_EVENTS = [
  ...["loadstart", "loadedmetadata", "loadeddata", "canplay", "canplaythrough", "emptied", "error", "stalled"],
  ...["play", "playing", "pause", "waiting", "ended", "seeking", "seeked", "timeupdate", "durationchange"],
  ...["ratechange", "resize", "volumechange", "enterpictureinpicture", "leavepictureinpicture"],
] as const;

/** Two addresses of the same path are the same video, with another token. */
const pathOf = (src: string): string => src.split("?", 1)[0] ?? "";
