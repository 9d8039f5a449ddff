import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const CHILD = fileURLToPath(new URL("part-times-child.ts", import.meta.url));

/** A part in one of the followed playlists, for the first time. */
export interface SeenPart {
  /** Its place among those that are followed. */
  readonly playlist: number;
  readonly uri: string;
  /** Milliseconds by the clock of the process that follows. */
  readonly at: number;
}

/** Measures how much later the same parts are listed at several places than at the first: one client for all of them, in a process that does nothing else. */
export class PartLag {
  readonly #child: ChildProcess;
  readonly #seen: SeenPart[] = [];

  constructor(playlistUrls: readonly string[]) {
    this.#child = spawn(process.execPath, [CHILD, ...playlistUrls], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
    this.#child.on("message", (seen) => this.#seen.push(seen as SeenPart));
  }

  /** Milliseconds behind the first playlist, for each part of each other one, in ascending order. Ends it. */
  stop(): number[] {
    this.#child.disconnect();
    const first = new Map(this.#seen.flatMap(({ playlist, uri, at }) => (playlist === 0 ? [[uri, at]] : [])));
    return this.#seen
      .flatMap(({ playlist, uri, at }) => (playlist === 0 ? [] : [at - (first.get(uri) ?? Number.NaN)]))
      .filter((ms) => !Number.isNaN(ms))
      .toSorted((a, b) => a - b);
  }
}
