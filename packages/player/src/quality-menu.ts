import { playerStrings as text } from "./player-strings.ts";
import type { Quality } from "./qualities.ts";

/** The choice of qualities; hidden while there is nothing to choose. */
export class QualityMenu {
  readonly #select: HTMLSelectElement;
  #qualities: readonly Quality[] = [];

  constructor(select: HTMLSelectElement, choose: (quality: string | null) => void) {
    this.#select = select;
    select.addEventListener("change", () => choose(select.value || null));
  }

  offer(qualities: readonly Quality[]): void {
    this.#qualities = qualities;
    const chosen = this.#select.value;
    const options = qualities.map(({ id, label }) => new Option(label, id, false, id === chosen));
    this.#select.replaceChildren(new Option(text.auto, ""), ...options);
    this.#select.hidden = qualities.length < 2;
  }

  /** The quality on the screen. */
  show(shown: string | null): void {
    const auto = this.#select.options[0];
    const label = this.#qualities.find(({ id }) => id === shown)?.label;
    if (auto) auto.text = label === undefined ? text.auto : text.autoAt(label);
  }
}
