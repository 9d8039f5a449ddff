import { OWN_SERVER } from "../own-server.ts";
import { sheetOf } from "../style-sheet.ts";
import css from "./broadcast.css?inline";
import { broadcastStrings as text } from "./broadcast-strings.ts";
import { type BroadcastState, BroadcastView, isOn } from "./broadcast-view.ts";
import { type CaptureChoice, type CaptureDevices, type CaptureProblem, canCapture, canShareScreen } from "./capture.ts";
import { CaptureSession } from "./capture-session.ts";
import { meterAudio } from "./level-meter.ts";
import { type BroadcastFigures, type Publishing, publishMedia } from "./whip-publisher.ts";

/** `detail` of the event `statechange`. */
export interface BroadcastStateChange {
  readonly state: BroadcastState;
  /** Why there is no picture, while the state is `blocked`. */
  readonly captureProblem: CaptureProblem | null;
  /** The words of the server or the browser, where the broadcast failed or reconnects. */
  readonly problem: string | null;
}

const NO_DEVICES: CaptureDevices = { cameras: [], microphones: [] };

/**
 * `<weir-broadcast stream-key="…">`: sends camera or screen, and a microphone, to a stream by WebRTC (WHIP, RFC 9725). The broadcast lives as long as
 * the element is on the page. Attributes, properties, events and CSS variables are in docs/2-publish/browser.md.
 */
export class WeirBroadcast extends (globalThis.HTMLElement ?? (Object as never as typeof HTMLElement)) {
  static readonly observedAttributes = ["stream-key", "server", "source", "disabled"];
  #view: BroadcastView | null = null;
  #capture: CaptureSession | null = null;
  /** Ends with the element's place on the page. */
  #placed = new AbortController();
  #metered: AbortController | null = null;
  #publishing: AbortController | null = null;
  #state: BroadcastState = "asking";
  #choice: CaptureChoice = { source: "camera", camera: null, microphone: null };
  #devices = NO_DEVICES;
  #captureProblem: { readonly kind: CaptureProblem; readonly message: string } | null = null;
  #problem: string | null = null;
  #figures: BroadcastFigures | null = null;
  #isMuted = false;
  #isAsking = false;
  #published: Publishing | null = null;
  /** Whether the broadcast began with sound: it can have another microphone, or none for a time. */
  #hasSound = false;

  /** What the broadcaster sees now. */
  get state(): BroadcastState {
    return this.#state;
  }

  /** What is shown, and sent once live; null while there is none. */
  get media(): MediaStream | null {
    return this.#capture?.media ?? null;
  }

  /** Whether the microphone sends silence. */
  get muted(): boolean {
    return this.#isMuted;
  }

  set muted(isMuted: boolean) {
    this.#isMuted = isMuted;
    for (const track of this.media?.getAudioTracks() ?? []) track.enabled = !isMuted;
    this.#show();
  }

  /** Begins to broadcast. Does nothing without a picture or a stream key, while disabled, and while it broadcasts. */
  start(): void {
    if (this.#mayBegin()) this.#publish();
  }

  /** Ends the broadcast, and with it the stream's session. The picture stays. */
  stop(): void {
    if (!isOn(this.#state)) return;
    this.#endPublishing();
    this.#enter("ready");
  }

  connectedCallback(): void {
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [sheetOf(css)];
    this.#view = new BroadcastView(root, {
      onChoice: (change) => this.#choose(change),
      onMute: () => {
        this.muted = !this.#isMuted;
      },
      onRetry: () => this.#ask(),
      onSwitch: () => (isOn(this.#state) ? this.stop() : this.start()),
    });
    this.#placed = new AbortController();
    const { signal } = this.#placed;
    if (!canCapture()) return this.#enter("unsupported");
    window.addEventListener("pagehide", () => this.stop(), { signal });
    const listener = {
      onMedia: () => {
        this.#takeSound();
        this.#enter("ready");
      },
      onDevices: (devices: CaptureDevices) => {
        this.#devices = devices;
        this.#show();
      },
      onProblem: (kind: CaptureProblem, message: string) => {
        this.#lose();
        this.#captureProblem = { kind, message };
        this.#enter("blocked");
      },
    };
    this.#capture = new CaptureSession(listener, signal);
    this.#choice = { ...this.#choice, source: this.#sourceAttribute() };
    this.#enter("asking");
    this.#ask();
  }

  disconnectedCallback(): void {
    this.#lose();
    this.#placed.abort();
    this.#capture = null;
    this.#view = null;
  }

  attributeChangedCallback(name: string, before: string | null, value: string | null): void {
    if (!this.#view || before === value || this.#state === "unsupported") return;
    if (name === "source") this.#choose({ source: this.#sourceAttribute() });
    // A broadcast goes on with the stream's new key.
    else if (name !== "disabled" && this.#endPublishing()) this.#publish();
    else this.#show();
  }

  #sourceAttribute(): CaptureChoice["source"] {
    return this.getAttribute("source") === "screen" ? "screen" : "camera";
  }

  #choose(change: Partial<CaptureChoice>): void {
    this.#choice = { ...this.#choice, ...change };
    if (isOn(this.#state)) void this.#change();
    else this.#ask();
    this.#show();
  }

  /** The broadcast goes on with other devices; as it was where the browser does not give them. */
  async #change(): Promise<void> {
    const changed = await this.#capture?.change(this.#choice);
    if (!changed) return;
    this.#choice = changed.choice;
    this.#takeSound();
    this.#published?.replaceTracks();
    if (!isOn(this.#state)) return this.#show();
    this.#problem = changed.problem && text.kept(text.problems[changed.problem].title);
    this.#enter(this.#state);
  }

  /** Asks the browser for the media of the choice; once for several attributes that change together. */
  #ask(): void {
    this.#lose();
    if (this.#state !== "asking") this.#enter("asking");
    if (this.#isAsking) return;
    this.#isAsking = true;
    queueMicrotask(() => {
      this.#isAsking = false;
      void this.#capture?.ask(this.#choice);
      this.#show();
    });
  }

  #takeSound(): void {
    const [{ media }, view] = [this, this.#view];
    this.#metered?.abort();
    this.#metered = new AbortController();
    const tracks = media?.getAudioTracks() ?? [];
    for (const track of tracks) track.enabled = !this.#isMuted;
    if (view && media && tracks.length > 0) meterAudio(media, view.meter, this.#metered.signal);
  }

  /** A broadcast ends with its media. */
  #lose(): void {
    this.#endPublishing();
    this.#metered?.abort();
    this.#captureProblem = null;
  }

  #mayBegin(): boolean {
    const isReady = this.media !== null && !isOn(this.#state);
    return isReady && !this.hasAttribute("disabled") && (this.getAttribute("stream-key") ?? "") !== "";
  }

  #publish(): void {
    const [{ media }, streamKey] = [this, this.getAttribute("stream-key")];
    if (!media || !streamKey) return this.#enter("ready");
    this.#publishing = new AbortController();
    const { signal } = this.#publishing;
    const listener = {
      onState: (state: BroadcastState, problem: string | null) => {
        if (signal.aborted) return;
        this.#problem = problem;
        if (state !== "live") this.#figures = null;
        if (state === "failed") this.#publishing?.abort();
        this.#enter(state);
      },
      onFigures: (figures: BroadcastFigures) => {
        if (signal.aborted || this.#state !== "live") return;
        this.#figures = figures;
        this.#show();
        this.dispatchEvent(new CustomEvent("figures", { detail: figures }));
      },
    };
    const server = this.getAttribute("server") ?? OWN_SERVER;
    this.#hasSound = media.getAudioTracks().length > 0;
    this.#published = publishMedia(media, `${server}/webrtc/${encodeURIComponent(streamKey)}`, listener, signal);
  }

  /** False if there was no broadcast. */
  #endPublishing(): boolean {
    const wasOn = isOn(this.#state);
    this.#publishing?.abort();
    this.#publishing = null;
    this.#published = null;
    this.#problem = null;
    this.#figures = null;
    return wasOn;
  }

  #enter(state: BroadcastState): void {
    this.#state = state;
    this.#show();
    const detail: BroadcastStateChange = {
      state,
      captureProblem: this.#captureProblem?.kind ?? null,
      problem: this.#problem,
    };
    this.dispatchEvent(new CustomEvent("statechange", { detail }));
  }

  #show(): void {
    this.#view?.show({
      state: this.#state,
      choice: this.#choice,
      devices: this.#devices,
      media: this.media,
      isMuted: this.#isMuted,
      mayHaveSound: !isOn(this.#state) || this.#hasSound,
      mayBegin: this.#mayBegin(),
      canShareScreen: this.#state !== "unsupported" && canShareScreen(),
      captureProblem: this.#captureProblem,
      problem: this.#problem,
      figures: this.#figures,
    });
  }
}
