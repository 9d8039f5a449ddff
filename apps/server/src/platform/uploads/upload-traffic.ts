import type { IncomingMessage } from "node:http";
import type { Clock } from "../clock.ts";
import { Places } from "../limits/places.ts";
import { UploadRefused } from "./upload-refused.ts";

/** Concurrent uploads on this node, and per client. */
const MAX_AT_ONCE = 128;
const MAX_PER_CLIENT = 24;
/** Minimum throughput of an upload; a slower connection is cut off, so that a trickle holds no place. */
const WINDOW_MS = 30_000;
const MIN_BYTES_PER_WINDOW = 16 * 1024;

/** Tracks current uploads: how many in total and per client, one writer per upload, and none that has stopped sending. */
export class UploadTraffic {
  readonly #clock: Clock;
  readonly #places = new Places({ inAll: MAX_AT_ONCE, perHolder: MAX_PER_CLIENT });
  readonly #writing = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Requests that currently bring bytes. */
  get underWay(): number {
    return this.#places.taken;
  }

  /** Take a place for a request that brings bytes. Throws `UploadRefused` if there is none. */
  enter(client: string, request: IncomingMessage): Disposable {
    if (!this.#places.take(client))
      throw new UploadRefused(429, "too many uploads at once: try again in a few seconds");
    const { socket } = request;
    let before = socket.bytesRead;
    const watch = this.#clock.every(WINDOW_MS, () => {
      if (socket.bytesRead - before < MIN_BYTES_PER_WINDOW && !request.complete) request.destroy();
      before = socket.bytesRead;
    });
    return {
      [Symbol.dispose]: () => {
        watch.cancel();
        this.#places.giveBack(client);
      },
    };
  }

  /** Take the single place of writers to an upload. Throws `UploadRefused` if it is taken. */
  lock(id: string): Disposable {
    if (this.#writing.has(id)) throw new UploadRefused(423, "another request is writing to this upload");
    this.#writing.add(id);
    return { [Symbol.dispose]: () => void this.#writing.delete(id) };
  }

  isWriting(id: string): boolean {
    return this.#writing.has(id);
  }
}
