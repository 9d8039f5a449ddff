import { pictureAtDate } from "./pictures/storyboard.ts";
import { playerStrings as text } from "./player-strings.ts";
import { positionText } from "./position-text.ts";
import { LIVE_WITHIN_MS, type LiveTimeline } from "./rewind.ts";
import { showSeekPreview } from "./seek-preview.ts";

/** Seconds that a key moves by. */
const STEPS: Readonly<Record<string, number>> = {
  ...{ ArrowLeft: -5, ArrowRight: 5, ArrowDown: -5, ArrowUp: 5, PageDown: -60, PageUp: 60 },
  ...{ Home: Number.NEGATIVE_INFINITY, End: Number.POSITIVE_INFINITY },
};
const SETTLED_MS = 300;
/** Width of the thumb, whose middle does not reach the ends of the bar; and of the margin beside it. */
const [THUMB_PX, MARGIN_PX] = [14, 12];
/** How often pictures are asked for again: they are some seconds apart. */
const PICTURES_AGAIN_MS = 10_000;

export interface RewindControls {
  timeline(): LiveTimeline | null;
  /** Null for the live edge. */
  goTo(dateMs: number | null): void;
  playlist(): string;
}

export interface RewindParts {
  readonly bar: HTMLElement;
  readonly range: HTMLInputElement;
  /** Says how far the picture is behind the live edge. */
  readonly behind: HTMLElement;
}

/** The seek bar of a live stream that viewers can go back in. Hidden while they cannot. */
export class RewindBar {
  readonly #parts: RewindParts;
  readonly #controls: RewindControls;
  /** While a finger or a key moves it, the bar does not follow the picture. */
  #isHeld = false;
  #settling: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: RewindParts, controls: RewindControls, signal: AbortSignal) {
    this.#parts = parts;
    this.#controls = controls;
    const { bar, range } = parts;
    range.style.setProperty("--w-thumb", `${THUMB_PX}px`);
    range.style.setProperty("--w-margin", `${MARGIN_PX}px`);
    const drop = (): void => {
      clearTimeout(this.#settling);
      this.#isHeld = false;
    };
    const release = (): void => {
      if (!this.#isHeld) return;
      drop();
      const timeline = controls.timeline();
      if (timeline) controls.goTo(timeline.sinceMs + range.valueAsNumber * 1000);
    };
    const hold = (): void => {
      this.#isHeld = true;
      this.#describe(Number(range.max) - range.valueAsNumber);
    };
    range.addEventListener("input", hold, { signal });
    range.addEventListener("change", release, { signal });
    // A thumb that is back where it was taken changes nothing, and must not stay held.
    range.addEventListener("pointerup", release, { signal });
    range.addEventListener("pointercancel", drop, { signal });
    range.addEventListener("keydown", (event) => this.#onKey(event), { signal });
    showSeekPreview(
      {
        place: bar,
        range,
        insetPx: MARGIN_PX + THUMB_PX / 2,
        ratioAt: ({ clientX }) => {
          const { left, width } = range.getBoundingClientRect();
          return Math.min(1, Math.max(0, (clientX - left - THUMB_PX / 2) / (width - THUMB_PX)));
        },
        ratio: () => range.valueAsNumber / Number(range.max),
        momentAt: (ratio) => {
          const length = Number(range.max);
          const dateMs = (controls.timeline()?.sinceMs ?? 0) + ratio * length * 1000;
          const behindSeconds = length - ratio * length;
          return {
            words: behindSeconds * 1000 <= LIVE_WITHIN_MS ? text.atLiveEdge : behindText(behindSeconds),
            picture: (pictures) => pictureAtDate(pictures, dateMs),
          };
        },
        playlist: controls.playlist,
        growsEveryMs: PICTURES_AGAIN_MS,
      },
      signal,
    );
  }

  /** Moves by so many seconds, as a key does. False where viewers cannot go back. */
  move(seconds: number): boolean {
    if (this.#controls.timeline() === null) return false;
    const { range } = this.#parts;
    clearTimeout(this.#settling);
    range.value = String(Math.min(Number(range.max), Math.max(0, range.valueAsNumber + seconds)));
    range.dispatchEvent(new Event("input"));
    // Many presses of a key are one move.
    this.#settling = setTimeout(() => range.dispatchEvent(new Event("change")), SETTLED_MS);
    return true;
  }

  /** To be called while it plays. */
  show(): void {
    const timeline = this.#controls.timeline();
    const { bar, range, behind } = this.#parts;
    bar.hidden = timeline === null;
    if (timeline === null || this.#isHeld) {
      behind.hidden ||= timeline === null;
      return;
    }
    const { sinceMs, atMs, edgeMs } = timeline;
    range.max = String(Math.max(1, (edgeMs - sinceMs) / 1000));
    range.value = String(isLive(timeline) ? range.max : (atMs - sinceMs) / 1000);
    this.#describe(isLive(timeline) ? 0 : (edgeMs - atMs) / 1000);
  }

  #describe(behindSeconds: number): void {
    const { range, behind } = this.#parts;
    const words = behindText(behindSeconds);
    range.style.setProperty("--w-at", String(range.valueAsNumber / Number(range.max)));
    range.setAttribute("aria-valuetext", behindSeconds === 0 ? text.atLiveEdge : text.behindLive(words.slice(1)));
    behind.hidden = behindSeconds === 0;
    behind.textContent = words;
  }

  #onKey(event: KeyboardEvent): void {
    const step = STEPS[event.key];
    if (step === undefined) return;
    // Neither the browser's own step nor that of the whole player.
    event.preventDefault();
    event.stopPropagation();
    this.move(step);
  }
}

/** Whether the picture counts as live. */
export const isLive = ({ atMs, edgeMs }: LiveTimeline): boolean => edgeMs - atMs <= LIVE_WITHIN_MS;

/** 45 s as `−0:45`, with the sign of minus. */
export const behindText = (seconds: number): string => `−${positionText(seconds)}`;
