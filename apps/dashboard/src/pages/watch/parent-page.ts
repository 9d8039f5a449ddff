import type { StageState } from "@weir/player";

/** What a page may ask of the player that it embeds. */
export type Command =
  | { readonly name: "play" | "pause" | "mute" | "unmute" | "live" }
  | { readonly name: "seek"; readonly seconds: number };

const NAMES: ReadonlySet<string> = new Set(["play", "pause", "mute", "unmute", "live"]);

/** The command in a message `{ type: "weir:command", command: "seek", seconds: 12 }`; null for any other message. */
export function commandIn(data: unknown): Command | null {
  if (typeof data !== "object" || data === null) return null;
  const { type, command, seconds } = data as Record<string, unknown>;
  if (type !== "weir:command" || typeof command !== "string") return null;
  if (command === "seek")
    return typeof seconds === "number" && Number.isFinite(seconds) && seconds >= 0 ? { name: "seek", seconds } : null;
  return NAMES.has(command) ? ({ name: command } as Command) : null;
}

/** What the player tells the page that embeds it. */
export type Told =
  | { readonly type: "weir:state"; readonly state: StageState }
  | { readonly type: "weir:event"; readonly event: string; readonly currentTime: number };

/** The part of a window that is used here. */
export interface MessageTarget {
  postMessage(message: unknown, targetOrigin: string): void;
}

/**
 * The page around an embedded player. Only the window that embeds it is listened to, and only while that shows the origin that was expected: a page that
 * navigated away, or took another's place, controls nothing and is told nothing.
 */
export class ParentPage {
  readonly #parent: MessageTarget;
  readonly #origin: string | null;

  /** `origin` is the one that the address names, or that the browser says embeds this page; null where neither is known. */
  constructor(parent: MessageTarget, origin: string | null) {
    this.#parent = parent;
    this.#origin = origin;
  }

  /** The command of a message; null where its sender may give none. */
  commandOf({ data, source, origin }: Pick<MessageEvent, "data" | "source" | "origin">): Command | null {
    const isTrusted = source === (this.#parent as unknown) && this.#origin !== null && origin === this.#origin;
    return isTrusted ? commandIn(data) : null;
  }

  tell(message: Told): void {
    if (this.#origin !== null) this.#parent.postMessage(message, this.#origin);
  }
}
