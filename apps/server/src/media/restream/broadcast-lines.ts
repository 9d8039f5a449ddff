import type { FeedSink } from "../feed/session-feed.ts";
import { BroadcastLine, type LineReader } from "./broadcast-line.ts";
import type { LineFormat } from "./line-format.ts";
import type { LineMemory } from "./line-pages.ts";

/** A rendition's samples, for whoever attaches. */
export interface RenditionSource {
  attach(sink: FeedSink): () => void;
}

/** A session's rendition by the name of its profile; a sentence why there is none, null before that is known. */
export type FindRendition = (profile: string) => RenditionSource | string | null;

/** The tracks that a target is sent. */
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

/** The lines of a session: one for each choice that a target has made, while one has. */
export class BroadcastLines {
  readonly #find: FindRendition;
  readonly #memory: LineMemory;
  readonly #lines = new Map<string, Held>();

  constructor(find: FindRendition, memory: LineMemory) {
    this.#find = find;
    this.#memory = memory;
  }

  /** Let `reader` have what it chose, until the returned function is called. A sentence where that is not made, null before it is known. */
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

  /** To be called every 50 ms. */
  tick(nowMs: number): void {
    for (const { line } of this.#lines.values()) line.tick(nowMs);
  }

  /** Send what was gathered, at once. */
  flush(): void {
    for (const { line } of this.#lines.values()) line.flush();
  }

  #open({ profile, videoOnly: isVideoOnly, slate: hasSlate, format }: LineChoice): Held | string | null {
    const source = this.#find(profile);
    if (source === null || typeof source === "string") return source;
    const line = new BroadcastLine({ format: format.create(), isVideoOnly, hasSlate, memory: this.#memory });
    return { line, detach: source.attach(line) };
  }
}
