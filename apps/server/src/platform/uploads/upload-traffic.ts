import type { IncomingMessage } from "node:http";
import type { Clock } from "../clock.ts";
import { Places } from "../limits/places.ts";
import { UploadRefused } from "./upload-refused.ts";

/** Uploads under way at a time on this node, and those of one client. */
const MAX_AT_ONCE = 128;
const MAX_PER_CLIENT = 24;
/** An upload brings at least so many bytes in such a time, or its connection is cut: a trickle holds no place. */
const WINDOW_MS = 30_000;
const MIN_BYTES_PER_WINDOW = 16 * 1024;

/** Who uploads at the moment: how many in all and of one client, one writer for an upload, none that has stopped sending. */
export class UploadTraffic {
  readonly #clock: Clock;
  readonly #places = new Places({ inAll: MAX_AT_ONCE, perHolder: MAX_PER_CLIENT });
  readonly #writing = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Requests that bring bytes at the moment. */
  get underWay(): number {
    return this.#places.taken;
  }

  /** Take a place for a request that brings bytes. Throws `UploadRefused` where there is none. The result gives it back. */
  enter(client: string, request: IncomingMessage): () => void {
    if (!this.#places.take(client))
      throw new UploadRefused(429, "too many uploads at once: try again in a few seconds");
    const { socket } = request;
    let before = socket.bytesRead;
    const watch = this.#clock.every(WINDOW_MS, () => {
      if (socket.bytesRead - before < MIN_BYTES_PER_WINDOW && !request.complete) request.destroy();
      before = socket.bytesRead;
    });
    return () => {
      watch.cancel();
      this.#places.giveBack(client);
    };
  }

  /** Take the one place of writers to an upload. Throws `UploadRefused` where somebody writes to it. */
  lock(id: string): () => void {
    if (this.#writing.has(id)) throw new UploadRefused(423, "another request is writing to this upload");
    this.#writing.add(id);
    return () => void this.#writing.delete(id);
  }

  isWriting(id: string): boolean {
    return this.#writing.has(id);
  }
}
