import type { StoryboardPicture } from "./storyboard.ts";

/** A file as the browser has it. */
export type LoadedImage = Pick<HTMLImageElement, "naturalWidth" | "naturalHeight">;

/** Loads one picture at a time. Of those that are asked for meanwhile it loads the last one alone: a pointer passes hundreds. */
export class PictureLoader {
  readonly #load: (url: string) => Promise<LoadedImage>;
  readonly #draw: (picture: StoryboardPicture, image: LoadedImage) => void;
  #wanted: StoryboardPicture | null = null;
  #isLoading = false;

  constructor(
    load: (url: string) => Promise<LoadedImage>,
    draw: (picture: StoryboardPicture, image: LoadedImage) => void,
  ) {
    this.#load = load;
    this.#draw = draw;
  }

  want(picture: StoryboardPicture): void {
    this.#wanted = picture;
    if (!this.#isLoading) void this.#loadWanted();
  }

  async #loadWanted(): Promise<void> {
    this.#isLoading = true;
    while (this.#wanted) {
      const picture = this.#wanted;
      this.#wanted = null;
      // A picture that does not load leaves the last one in place.
      await this.#load(picture.url).then(
        (image) => this.#draw(picture, image),
        () => {},
      );
    }
    this.#isLoading = false;
  }
}

export async function loadImage(url: string): Promise<LoadedImage> {
  const image = new Image();
  image.src = url;
  await image.decode();
  return image;
}

/** Draws a picture into an element, as large as fits into a box. */
export function drawPicture(
  element: HTMLElement,
  { url, part }: StoryboardPicture,
  image: LoadedImage,
  box: { readonly width: number; readonly height: number },
): void {
  const { x, y, width, height } = part ?? { x: 0, y: 0, width: image.naturalWidth, height: image.naturalHeight };
  const scale = Math.min(box.width / width, box.height / height);
  const pixels = (...lengths: number[]): string => lengths.map((length) => `${length * scale}px`).join(" ");
  Object.assign(element.style, {
    width: pixels(width),
    height: pixels(height),
    backgroundImage: `url(${JSON.stringify(url)})`,
    backgroundSize: pixels(image.naturalWidth, image.naturalHeight),
    backgroundPosition: pixels(-x, -y),
  });
}
