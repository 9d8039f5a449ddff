import type { Cut } from "../timeline/timeline-sink.ts";
import type { LiveOutput } from "./live-output.ts";
import { RenditionStill } from "./rendition-still.ts";
import type { SlateImages } from "./slate-images.ts";

/** The renditions of one source, or its rungs, while they show a slate. */
export class SlateOutputs {
  #outputs: readonly LiveOutput[] = [];
  #stills: readonly RenditionStill[] = [];

  /** Returns the time from one picture to the next, in 90 kHz ticks; null if none of the renditions has a picture to show. `images`: those of the stream, where it has one. */
  begin(outputs: readonly LiveOutput[], images: SlateImages | null): number | null {
    this.#outputs = outputs;
    this.#stills = outputs.flatMap((output) => RenditionStill.of(output, images) ?? []);
    return this.#stills.length > 0 ? Math.max(...this.#stills.map(({ paceTicks }) => paceTicks)) : null;
  }

  cut(cut: Cut): void {
    for (const { packager } of this.#outputs) packager.cut(cut);
    for (const still of this.#stills) still.cut();
  }

  picture(ticks: number, duration: number): void {
    for (const still of this.#stills) still.show(ticks, duration);
  }

  end(ticks: number): void {
    for (const { packager } of this.#outputs) packager.pause(ticks);
    this.#outputs = [];
    this.#stills = [];
  }
}
