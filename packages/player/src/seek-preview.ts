import { drawPicture, loadImage, PictureLoader } from "./pictures/picture-loader.ts";
import { fetchStoryboard, type StoryboardPicture } from "./pictures/storyboard.ts";

const BOX = { width: 160, height: 90 };
/** A finger or a key leaves nothing hovering: what it showed goes by itself. */
const SHOWN_MS = 1500;

export interface PreviewedMoment {
  readonly words: string;
  picture(pictures: readonly StoryboardPicture[]): StoryboardPicture | null;
}

/** A bar that leads through a video. */
export interface PreviewedBar {
  /** The element that holds the bar; the preview is placed above it. */
  readonly place: HTMLElement;
  readonly range: HTMLElement;
  /** From the ends of `place` to those of the bar. */
  readonly insetPx: number;
  /** Where a pointer is on the bar, from 0 to 1. */
  ratioAt(event: PointerEvent): number;
  /** The position that the bar has now, from 0 to 1. */
  ratio(): number;
  /** What a place on the bar stands for: its words, and its picture; null while that is not known. */
  momentAt(ratio: number): PreviewedMoment | null;
  /** Address of the playlist whose pictures are shown. */
  playlist(): string;
  /** Pictures are added while the video plays: the list is read again after so long. */
  readonly growsEveryMs: number | null;
}

/**
 * Shows the picture and the time of the moment that a mouse points at on the seek bar, or that a finger or key just moved to. The list of
 * pictures is loaded when the bar is first touched.
 */
export function showSeekPreview(bar: PreviewedBar, signal: AbortSignal): void {
  const { range } = bar;
  const preview = document.createElement("div");
  preview.className = "w-player-preview";
  preview.hidden = true;
  preview.setAttribute("aria-hidden", "true");
  preview.style.setProperty("--w-inset", `${bar.insetPx}px`);
  const picture = document.createElement("span");
  const time = document.createElement("span");
  preview.append(picture, time);
  bar.place.append(preview);

  const loader = new PictureLoader(loadImage, (wanted, image) => drawPicture(picture, wanted, image, BOX));
  let pictures: readonly StoryboardPicture[] | null = null;
  let loadedAt = 0;
  let shown: PreviewedMoment | null = null;
  let hiding: ReturnType<typeof setTimeout> | undefined;

  const draw = (): void => {
    const wanted = shown?.picture(pictures ?? []);
    if (wanted && !preview.hidden) loader.want(wanted);
  };
  const isFresh = (): boolean => bar.growsEveryMs === null || performance.now() - loadedAt < bar.growsEveryMs;
  const load = async (): Promise<void> => {
    if (pictures && isFresh()) return;
    loadedAt = performance.now();
    const before = pictures;
    pictures ??= [];
    // A list that could not be loaded is asked for with the next touch.
    pictures = await fetchStoryboard(bar.playlist(), signal).catch(() => before);
    draw();
  };
  const hide = (): void => {
    preview.hidden = true;
  };
  const show = (ratio: number): void => {
    clearTimeout(hiding);
    const moment = bar.momentAt(ratio);
    if (!moment) return;
    shown = moment;
    time.textContent = moment.words;
    preview.style.setProperty("--w-at", String(ratio));
    preview.hidden = false;
    draw();
  };

  range.addEventListener("pointerenter", load, { signal });
  range.addEventListener("focusin", load, { signal });
  range.addEventListener("pointermove", (event) => show(bar.ratioAt(event)), { signal });
  range.addEventListener("pointerleave", hide, { signal });
  range.addEventListener(
    "input",
    () => {
      show(bar.ratio());
      hiding = setTimeout(hide, SHOWN_MS);
    },
    { signal },
  );
}
