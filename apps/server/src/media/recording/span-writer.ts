import { type FileHandle, mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../platform/clock.ts";
import type { ObjectStore } from "../../platform/storage/object-store.ts";
import { spanName } from "./recording-keys.ts";

const SPAN_BYTES = 8 * 1024 * 1024;
const SPAN_MS = 30_000;

/** One span while it is written: a local spool file that grows by whole segments, then one immutable object. */
export class SpanWriter {
  readonly name: string;
  readonly path: string;
  readonly epoch: number;
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #file: FileHandle;
  #bytes = 0;

  private constructor(name: string, path: string, epoch: number, file: FileHandle, clock: Clock) {
    this.name = name;
    this.path = path;
    this.epoch = epoch;
    this.#file = file;
    this.#clock = clock;
    this.#startedAt = clock.monotonic();
  }

  static async open(folder: string, epoch: number, firstMsn: number, clock: Clock): Promise<SpanWriter> {
    await mkdir(folder, { recursive: true });
    const name = spanName(epoch, firstMsn);
    const path = join(folder, name);
    return new SpanWriter(name, path, epoch, await open(path, "w"), clock);
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isFull(): boolean {
    return this.#bytes >= SPAN_BYTES || this.#clock.monotonic() - this.#startedAt >= SPAN_MS;
  }

  /** Append a segment; returns its offset. */
  async append(parts: readonly Uint8Array[]): Promise<number> {
    const offset = this.#bytes;
    await this.#file.writev(parts, offset);
    for (const part of parts) this.#bytes += part.byteLength;
    return offset;
  }

  /** Put the span to the store under `key` and forget the spool file. */
  async seal(store: ObjectStore, key: string): Promise<void> {
    await this.#file.close();
    await store.putFile(key, this.path);
    await rm(this.path, { force: true });
  }

  async abandon(): Promise<void> {
    await this.#file.close().catch(() => {});
  }
}
