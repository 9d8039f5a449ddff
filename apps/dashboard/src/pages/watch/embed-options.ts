/** How the address of an embedded player changes it. */
export interface EmbedOptions {
  /** Attributes of `<weir-player>`. */
  readonly attributes: Readonly<Record<string, string>>;
  /** A colour of CSS for what is chosen; null for the player's own. */
  readonly colour: string | null;
  /** The origin of the page that may control the player; null where the address names none. */
  readonly origin: string | null;
}

const FLAGS = ["autoplay", "muted", "loop"] as const;
const COLOUR = /^#?([0-9a-f]{3}|[0-9a-f]{6})$/i;
const SECONDS = /^\d{1,6}(\.\d{1,3})?$/;

/** `?autoplay=0&muted=0&loop=1&start=90&latency=low&colour=ff8800&origin=https://example.com`. What is invalid is ignored. */
export function embedOptionsIn(search: string): EmbedOptions {
  const query = new URLSearchParams(search);
  const attributes: Record<string, string> = {};
  for (const name of FLAGS) {
    const value = query.get(name);
    if (value !== null && /^(0|1|true|false)$/.test(value))
      attributes[name] = String(value === "1" || value === "true");
  }
  const start = query.get("start");
  if (start !== null && SECONDS.test(start)) attributes.start = start;
  if (query.get("latency") === "low") attributes["low-latency"] = "true";
  const [, colour] = COLOUR.exec(query.get("colour") ?? query.get("color") ?? "") ?? [];
  return { attributes, colour: colour === undefined ? null : `#${colour}`, origin: originIn(query.get("origin")) };
}

/** A whole origin, without a path; null for anything else. */
export function originIn(text: string | null): string | null {
  const url = text === null ? null : URL.parse(text);
  return url && /^https?:$/.test(url.protocol) ? url.origin : null;
}
