import { EXAMPLE_ORIGIN } from "@weir/contract/descriptions";
import { SharedText } from "../../platform/http/shared-text.ts";

/** Texts with the address of this server in place of the example's. Kept for the origin that was last asked for; most servers have one. */
export class TextsOfOrigin {
  #latest = { origin: "", texts: new Map<string, SharedText>() };

  /** `write` makes the text with the example's origin. */
  get(origin: string, name: string, write: () => string): SharedText {
    if (this.#latest.origin !== origin) this.#latest = { origin, texts: new Map() };
    const { texts } = this.#latest;
    const text = texts.get(name) ?? SharedText.of(write().replaceAll(EXAMPLE_ORIGIN, origin));
    texts.set(name, text);
    return text;
  }
}
