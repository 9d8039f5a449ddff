import type MediaTimeRange from "media-chrome/media-time-range";
import { drawPicture, loadImage, PictureLoader } from "./pictures/picture-loader.ts";
import { fetchStoryboard, pictureAt, type StoryboardPicture } from "./pictures/storyboard.ts";
import { positionText } from "./position-text.ts";

const BOX = { width: 160, height: 90 };
/** A finger or a key leaves nothing hovering: what it showed goes by itself. */
const SHOWN_MS = 1500;

/**
 * Shows the picture and the time of the moment that a mouse points at on the seek bar, or that a finger or key just moved to. The list of
 * pictures is loaded when the bar is first touched.
 */
export function showSeekPreview(
  bar: HTMLElement,
  video: HTMLVideoElement,
  playlist: () => string,
  signal: AbortSignal,
): void {
  const range = bar.querySelector<MediaTimeRange>("media-time-range");
  if (!range) return;
  const preview = document.createElement("div");
  preview.className = "w-player-preview";
  preview.hidden = true;
  preview.setAttribute("aria-hidden", "true");
  const picture = document.createElement("span");
  const time = document.createElement("span");
  preview.append(picture, time);
  bar.append(preview);

  const loader = new PictureLoader(loadImage, (wanted, image) => drawPicture(picture, wanted, image, BOX));
  let pictures: readonly StoryboardPicture[] | null = null;
  let seconds = 0;
  let hiding: ReturnType<typeof setTimeout> | undefined;

  const draw = (): void => {
    const wanted = pictureAt(pictures ?? [], seconds);
    if (wanted && !preview.hidden) loader.want(wanted);
  };
  const load = async (): Promise<void> => {
    if (pictures) return;
    pictures = [];
    // A list that could not be loaded is asked for with the next touch.
    pictures = await fetchStoryboard(playlist(), signal).catch(() => null);
    draw();
  };
  const hide = (): void => {
    preview.hidden = true;
  };
  const show = (ratio: number): void => {
    clearTimeout(hiding);
    if (!Number.isFinite(video.duration)) return;
    seconds = ratio * video.duration;
    time.textContent = positionText(seconds);
    preview.style.setProperty("--w-at", String(ratio));
    preview.hidden = false;
    draw();
  };

  range.addEventListener("pointerenter", load, { signal });
  range.addEventListener("focusin", load, { signal });
  range.addEventListener("pointermove", (event) => show(range.getPointerRatio(event)), { signal });
  range.addEventListener("pointerleave", hide, { signal });
  range.addEventListener(
    "input",
    () => {
      show(range.range.valueAsNumber);
      hiding = setTimeout(hide, SHOWN_MS);
    },
    { signal },
  );
}
