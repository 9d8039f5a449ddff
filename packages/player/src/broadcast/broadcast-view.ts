import { BROADCAST_MARKUP } from "./broadcast-markup.ts";
import { broadcastStrings as text } from "./broadcast-strings.ts";
import { type CaptureChoice, type CaptureDevices, type CaptureProblem, NO_MICROPHONE } from "./capture.ts";
import type { BroadcastFigures, PublishState } from "./whip-publisher.ts";

/** What the broadcaster sees now: what came of the camera until the broadcast begins, then how that goes. */
export type BroadcastState = "unsupported" | "asking" | "blocked" | "ready" | PublishState;

export interface BroadcastShown {
  readonly state: BroadcastState;
  readonly choice: CaptureChoice;
  readonly devices: CaptureDevices;
  readonly media: MediaStream | null;
  readonly isMuted: boolean;
  /** Whether the microphone can be chosen: a broadcast that began without sound has none. */
  readonly mayHaveSound: boolean;
  /** Whether the broadcast may begin. */
  readonly mayBegin: boolean;
  readonly canShareScreen: boolean;
  /** Why there is no picture. */
  readonly captureProblem: { readonly kind: CaptureProblem; readonly message: string } | null;
  /** The server's or the browser's words on a broadcast that failed or reconnects. */
  readonly problem: string | null;
  readonly figures: BroadcastFigures | null;
}

export interface BroadcastListener {
  onChoice(change: Partial<CaptureChoice>): void;
  onMute(): void;
  onRetry(): void;
  onSwitch(): void;
}

/** Whether a broadcast runs, or tries to. */
export const isOn = (state: BroadcastState): boolean =>
  state === "connecting" || state === "live" || state === "reconnecting";

/** The parts of the element on the page. */
export class BroadcastView {
  readonly meter: HTMLMeterElement;
  readonly #root: ShadowRoot;
  readonly #video: HTMLVideoElement;

  constructor(root: ShadowRoot, listener: BroadcastListener) {
    this.#root = root;
    root.innerHTML = BROADCAST_MARKUP;
    this.#video = this.#part("video");
    this.meter = this.#part("meter");
    this.#part(".w-broadcast-mute").addEventListener("click", () => listener.onMute());
    this.#part(".w-broadcast-retry").addEventListener("click", () => listener.onRetry());
    this.#part(".w-broadcast-switch").addEventListener("click", () => listener.onSwitch());
    const chosen = (name: string, change: (value: string) => Partial<CaptureChoice>): void => {
      const select = this.#select(name);
      select.addEventListener("change", () => listener.onChoice(change(select.value)));
    };
    chosen("source", (value) => ({ source: value === "screen" ? "screen" : "camera" }));
    chosen("camera", (value) => ({ camera: value || null }));
    chosen("microphone", (value) => ({ microphone: value || null }));
  }

  show(shown: BroadcastShown): void {
    this.#showPicture(shown);
    this.#showChoices(shown);
    this.#showCaptureProblem(shown);
    const { state, mayBegin, problem, figures } = shown;
    const button = this.#part<HTMLButtonElement>(".w-broadcast-switch");
    button.hidden = state === "unsupported";
    button.disabled = !isOn(state) && !mayBegin;
    button.dataset.on = String(isOn(state));
    button.textContent = isOn(state) ? text.end : state === "failed" ? text.again : text.begin;
    const words = this.#part(".w-broadcast-state");
    words.dataset.state = state;
    words.textContent = state in text.state ? text.state[state as PublishState] : "";
    this.#tell(".w-broadcast-problem", problem);
    this.#part(".w-broadcast-leave").hidden = !isOn(state);
    this.#showFigures(figures);
  }

  #showPicture({ state, media, choice, isMuted }: BroadcastShown): void {
    if (this.#video.srcObject !== media) this.#video.srcObject = media;
    const waiting = media ? null : state === "asking" ? text.asking[choice.source] : text.noPicture;
    this.#tell(".w-broadcast-waiting", waiting);
    const hasSound = (media?.getAudioTracks().length ?? 0) > 0;
    this.#part(".w-broadcast-sound").hidden = !hasSound;
    this.#part(".w-broadcast-silent").hidden = media === null || hasSound;
    this.#part(".w-broadcast-mute").textContent = isMuted ? text.unmute : text.mute;
  }

  #showChoices({ state, choice, devices, canShareScreen, mayHaveSound }: BroadcastShown): void {
    const isThere = state !== "unsupported";
    const offer = (name: string, isOffered: boolean, options: readonly Choice[], value: string): void => {
      const select = this.#select(name);
      this.#part(`[data-choice="${name}"]`).hidden = !isOffered;
      const now = options.map(optionOf);
      const isSame = now.length === select.options.length && now.every((one, at) => isEqual(one, select.options[at]));
      if (!isSame) select.replaceChildren(...now);
      select.value = value;
    };
    const listed = (list: readonly MediaDeviceInfo[]): Choice[] => [
      { value: "", label: text.automatic },
      ...list.map(({ deviceId, label }) => ({ value: deviceId, label })),
    ];
    const sources = (["camera", "screen"] as const).map((value) => ({ value, label: text.sources[value] }));
    offer("source", isThere && canShareScreen, sources, choice.source);
    offer("camera", isThere && choice.source === "camera", listed(devices.cameras), choice.camera ?? "");
    const microphones = [...listed(devices.microphones), { value: NO_MICROPHONE, label: text.noMicrophone }];
    offer("microphone", isThere, microphones, choice.microphone ?? "");
    this.#select("microphone").disabled = !mayHaveSound;
  }

  #showCaptureProblem({ state, captureProblem }: BroadcastShown): void {
    const isUnsupported = state === "unsupported";
    const note = this.#part(".w-broadcast-note");
    note.hidden = !isUnsupported && captureProblem === null;
    this.#part(".w-broadcast-retry").hidden = isUnsupported;
    const unsupported = isSecureContext ? text.unsupported.browser : text.unsupported.insecure;
    const { title, body } = captureProblem
      ? text.problems[captureProblem.kind]
      : { title: text.unsupported.title, body: unsupported };
    this.#part(".w-broadcast-note strong").textContent = note.hidden ? "" : title;
    const words = captureProblem?.kind === "other" ? captureProblem.message : body;
    this.#part(".w-broadcast-note span").textContent = note.hidden ? "" : words;
  }

  #showFigures(figures: BroadcastFigures | null): void {
    this.#part(".w-broadcast-figures").hidden = figures === null;
    if (figures === null) return;
    const { bitsPerSecond, width, height, framesPerSecond, fractionLost, roundTripMs, retransmits } = figures;
    const words = {
      rate: text.figures.megabits(bitsPerSecond),
      picture: text.figures.pictureOf(width, height, framesPerSecond),
      loss: text.figures.percent(fractionLost),
      roundTrip: roundTripMs === null ? text.figures.none : text.figures.milliseconds(roundTripMs),
      retransmits: String(retransmits),
    };
    for (const [name, value] of Object.entries(words)) this.#part(`[data-figure="${name}"]`).textContent = value;
  }

  #tell(selector: string, sentence: string | null): void {
    const place = this.#part(selector);
    place.hidden = sentence === null;
    place.textContent = sentence ?? "";
  }

  #select(name: string): HTMLSelectElement {
    return this.#part(`[data-choice="${name}"] select`);
  }

  #part<T extends HTMLElement>(selector: string): T {
    const found = this.#root.querySelector<T>(selector);
    if (!found) throw new Error(`the broadcast has no ${selector}`);
    return found;
  }
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

function optionOf({ value, label }: Choice): HTMLOptionElement {
  const option = document.createElement("option");
  option.value = value;
  option.textContent = label;
  return option;
}

const isEqual = (one: HTMLOptionElement, other: HTMLOptionElement | undefined): boolean =>
  one.value === other?.value && one.text === other.text;
