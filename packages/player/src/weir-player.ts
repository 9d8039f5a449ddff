import { Credentials, type GetToken } from "./credentials.ts";
import { MediaProperties } from "./media-properties.ts";
import { OWN_SERVER } from "./own-server.ts";
import css from "./player.css?inline";
import { type MountedPlayer, mountPlayer, type PlayerOptions } from "./player.ts";
import { playerStrings as text } from "./player-strings.ts";
import { Stage, type StageState } from "./stage.ts";
import { sheetOf } from "./style-sheet.ts";
import type { VideoInfo } from "./video-state.ts";

/** Attributes that a running player cannot take over: it is made again. A new `src`, `token` or `access-key` does not interrupt the video. */
const MADE_OF = [
  ...["playback-id", "server", "live", "label", "poster", "show-latency", "reported-as"],
  ...["autoplay", "muted", "loop", "start", "low-latency"],
];
const CREDENTIALS = ["token", "access-key"];

/** `detail` of the event `statechange`. */
export interface StateChange {
  readonly state: StageState;
  /** What the server told of the video; null before its first answer. */
  readonly video: VideoInfo | null;
}

/**
 * `<weir-player playback-id="…">`: a player that starts by itself, muted, and plays whenever there is something to play. With `src` it plays one HLS
 * address instead. Attributes, properties, events, slots and CSS variables are in docs/3-watch/player.md.
 */
export class WeirPlayer extends MediaProperties {
  static readonly observedAttributes = ["src", ...CREDENTIALS, ...MADE_OF];
  #player: MountedPlayer | null = null;
  #stage: Stage | null = null;
  readonly #credentials = new Credentials();
  #getToken: GetToken | null = null;
  #abort: AbortController | null = null;
  #isStarting = false;
  #video: HTMLVideoElement | null = null;
  #state: StageState = "loading";
  #path = "";

  /** The element that shows the video; null while there is none. */
  get video(): HTMLVideoElement | null {
    return this.#video;
  }

  /** What viewers see now. */
  get state(): StageState {
    return this.#state;
  }

  /** Returns a token that is valid now. It is called at the start, before the token expires, and when the server refuses it. */
  get getToken(): GetToken | null {
    return this.#getToken;
  }

  set getToken(getToken: GetToken | null) {
    this.#getToken = getToken;
    this.#credentials.renewBy(getToken);
    this.#stage?.restart();
  }

  /** Returns a live stream to its edge. */
  goLive(): void {
    (this.#player ?? this.#stage)?.goLive();
  }

  connectedCallback(): void {
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [sheetOf(css)];
    this.#takeEarlyFunction();
    this.#restart();
  }

  disconnectedCallback(): void {
    this.#stop();
  }

  attributeChangedCallback(name: string, before: string | null, value: string | null): void {
    if (!this.isConnected || before === value) return;
    if (CREDENTIALS.includes(name)) {
      this.#takeCredential();
      this.#stage?.restart();
    } else if (name === "src" && this.#player && value !== null && pathOf(value) === this.#path)
      this.#player.moveTo(value);
    else this.#restart();
  }

  /** A page may set the function before this script is there; then it hides the property of this class. */
  #takeEarlyFunction(): void {
    if (!Object.hasOwn(this, "getToken")) return;
    const { getToken } = this;
    Reflect.deleteProperty(this, "getToken");
    this.getToken = getToken;
  }

  /** Several attributes that change together make one player. */
  #restart(): void {
    if (this.#isStarting) return;
    this.#isStarting = true;
    queueMicrotask(() => {
      this.#isStarting = false;
      this.#stop();
      if (this.isConnected) this.#start();
    });
  }

  #start(): void {
    const [src, playbackId, root] = [this.getAttribute("src"), this.getAttribute("playback-id"), this.shadowRoot];
    if (!root || !(src || playbackId)) return;
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    const listener = {
      onFigures: (detail: unknown) => void this.dispatchEvent(new CustomEvent("figures", { detail })),
      onVideo: (video: HTMLVideoElement) => {
        this.#forgetVideo();
        this.#video = video;
        for (const event of MEDIA_EVENTS) video.addEventListener(event, this.#tell);
        this.dispatchEvent(new Event("videochange"));
      },
    };
    if (playbackId) {
      this.#takeCredential();
      const server = this.getAttribute("server") ?? OWN_SERVER;
      const onState = (state: StageState, video: VideoInfo | null) => this.#enter(state, video);
      const poster = this.getAttribute("poster");
      const own = poster === null ? {} : { poster };
      const options = { server, playbackId, credentials: this.#credentials, ...own, player: this.#options() };
      this.#stage = new Stage(root, options, { ...listener, onState }, signal);
      return;
    }
    if (!src) return;
    this.#path = pathOf(src);
    const [poster, reportedAs] = [this.getAttribute("poster"), this.getAttribute("reported-as")];
    const given = { ...(poster !== null && { poster }), ...(reportedAs !== null && { reportedAs }) };
    const options = { ...this.#options(), ...given, src, live: this.hasAttribute("live") };
    this.#player = mountPlayer(root, options, listener, signal);
    this.#enter("playing", null);
  }

  #options(): Omit<PlayerOptions, "src" | "live" | "poster" | "reportedAs"> {
    const isOn = (name: string): boolean => this.getAttribute(name) !== "false";
    const start = Number(this.getAttribute("start") ?? "");
    return {
      label: this.getAttribute("label") ?? text.label,
      isLatencyShown: this.hasAttribute("show-latency"),
      isStarting: isOn("autoplay"),
      isMuted: isOn("muted"),
      isLooping: this.hasAttribute("loop") && isOn("loop"),
      isLowLatency: this.hasAttribute("low-latency") && isOn("low-latency"),
      startSeconds: start > 0 && Number.isFinite(start) ? start : null,
    };
  }

  #takeCredential(): void {
    const [token, accessKey] = [this.getAttribute("token"), this.getAttribute("access-key")];
    this.#credentials.give(
      token ? { name: "jwt", value: token } : accessKey ? { name: "accessKey", value: accessKey } : null,
    );
  }

  #enter(state: StageState, video: VideoInfo | null): void {
    if (state !== "playing" && state !== "reconnecting") this.#forgetVideo();
    this.#state = state;
    const detail: StateChange = { state, video };
    this.dispatchEvent(new CustomEvent("statechange", { detail }));
  }

  #stop(): void {
    this.#abort?.abort();
    this.#forgetVideo();
    this.#abort = null;
    this.#player = null;
    this.#stage = null;
  }

  #forgetVideo(): void {
    for (const event of MEDIA_EVENTS) this.#video?.removeEventListener(event, this.#tell);
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
