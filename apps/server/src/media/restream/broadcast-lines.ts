import type { Feed } from "../feed/session-feed.ts";
import { BroadcastLine, type LineReader } from "./broadcast-line.ts";
import type { LineFormat } from "./line-format.ts";
import type { LineMemory } from "./line-pages.ts";

/** Finds a session's rendition by profile name. A sentence says why it does not exist; null means not yet known. */
export type FindRendition = (profile: string) => Feed | string | null;

/** What a target wants to receive. */
export interface LineChoice {
  readonly profile: string;
  readonly videoOnly: boolean;
  readonly slate: boolean;
  readonly format: { readonly key: string; create(): LineFormat };
}

interface Held {
  readonly line: BroadcastLine;
  readonly detach: () => void;
}

/** The lines of a session: one per distinct choice, as long as a target uses it. */
export class BroadcastLines {
  readonly #find: FindRendition;
  readonly #memory: LineMemory;
  readonly #lines = new Map<string, Held>();

  constructor(find: FindRendition, memory: LineMemory) {
    this.#find = find;
    this.#memory = memory;
  }

  /**
   * Gives `reader` its choice until the returned function is called. Returns a sentence if that rendition does not exist, null if this is not yet
   * known.
   */
  join(choice: LineChoice, reader: LineReader): (() => void) | string | null {
    const { profile, videoOnly, slate, format } = choice;
    const key = `${format.key} ${videoOnly} ${slate} ${profile}`;
    const held = this.#lines.get(key) ?? this.#open(choice);
    if (held === null || typeof held === "string") return held;
    this.#lines.set(key, held);
    const leave = held.line.join(reader);
    return () => {
      leave();
      if (held.line.readerCount > 0 || this.#lines.get(key) !== held) return;
      this.#lines.delete(key);
      held.detach();
      held.line.close();
    };
  }

  /** Call every 50 ms. */
  tick(nowMs: number): void {
    for (const { line } of this.#lines.values()) line.tick(nowMs);
  }

  /** Sends the collected batches immediately. */
  flush(): void {
    for (const { line } of this.#lines.values()) line.flush();
  }

  #open({ profile, videoOnly: isVideoOnly, slate: hasSlate, format }: LineChoice): Held | string | null {
    const source = this.#find(profile);
    if (source === null || typeof source === "string") return source;
    const line = new BroadcastLine({ format: format.create(), isVideoOnly, hasSlate, memory: this.#memory });
    return { line, detach: source.attach(line, { from: "keyframe" }) };
  }
}
