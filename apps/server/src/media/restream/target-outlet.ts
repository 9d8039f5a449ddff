import type { DroppedSamples } from "../feed/dropped-samples.ts";
import type { Payload } from "../packet.ts";
import type { LineBatch, LineReader } from "./broadcast-line.ts";
import type { TargetConnection } from "./target-connection.ts";

/**
 * Connects a line to one target. Unread bytes are queued in the connection up to a limit; beyond it, media is skipped until the next keyframe that
 * fits. A slow target thus continues with current media and does not affect the source or other targets.
 */
export class TargetOutlet implements LineReader {
  readonly #connection: TargetConnection;
  readonly #maxQueued: () => number;
  readonly #dropped: DroppedSamples;
  /** True while waiting for a keyframe. */
  #waits = true;
  #written = 0;
  /** Runs not read yet, each with the total bytes written at its end. */
  readonly #untaken: { readonly run: Payload; readonly end: number }[] = [];
  /** Start of the media being skipped; null while nothing is skipped. */
  #skippedFromMs: number | null = null;
  #skippedMs = 0;
  #mediaTimeMs = 0;
  #refusal: string | null = null;

  constructor(connection: TargetConnection, maxQueued: () => number, dropped: DroppedSamples) {
    this.#connection = connection;
    this.#maxQueued = maxQueued;
    this.#dropped = dropped;
  }

  /** Bytes of media that the target has read. */
  get takenBytes(): number {
    return Math.max(0, this.#written - this.#connection.queuedBytes);
  }

  get queuedBytes(): number {
    return this.#connection.queuedBytes;
  }

  /** Why the target's protocol does not support the broadcast; null if it does. */
  get refusal(): string | null {
    return this.#refusal;
  }

  /** End of the media sent, in milliseconds of the timeline. */
  get mediaTimeMs(): number {
    return this.#mediaTimeMs;
  }

  /** Duration of the media skipped because the target was too slow. */
  get skippedMs(): number {
    return this.#skippedMs;
  }

  get hasRoom(): boolean {
    return !this.#waits || this.queuedBytes <= this.#maxQueued() / 4;
  }

  batch({ run, opening, frames, mediaTimeMs }: LineBatch): void {
    this.#releaseTaken();
    if (this.#waits) {
      if (!opening || !this.hasRoom) return this.#leaveOut(frames, mediaTimeMs);
      this.#waits = false;
      this.#skippedFromMs = null;
      this.#send(opening);
    } else if (this.queuedBytes + run.byteLength > this.#maxQueued()) {
      this.#waits = true;
      this.#skippedFromMs = this.#mediaTimeMs;
      return this.#leaveOut(frames, mediaTimeMs);
    }
    this.#send(run.bytes);
    this.#keepUntaken(run);
    this.#mediaTimeMs = mediaTimeMs;
  }

  /** The connection has ended. It may still read unread runs, so they are left to the garbage collector. */
  close(): void {
    this.#releaseTaken();
    this.#untaken.length = 0;
    this.#dropped.report();
  }

  refuse(reason: string): void {
    this.#refusal = reason;
  }

  #send(bytes: Uint8Array): void {
    if (bytes.byteLength === 0) return;
    this.#written += bytes.byteLength;
    this.#connection.write(bytes);
  }

  /** A target that keeps up reads the run immediately. */
  #keepUntaken(run: Payload): void {
    if (this.queuedBytes === 0) return;
    run.retain();
    this.#untaken.push({ run, end: this.#written });
  }

  #releaseTaken(): void {
    if (this.#untaken.length === 0) return;
    const taken = this.takenBytes;
    let count = 0;
    for (const { run, end } of this.#untaken) {
      if (end > taken) break;
      run.release();
      count++;
    }
    if (count > 0) this.#untaken.splice(0, count);
  }

  #leaveOut(frames: number, untilMs: number): void {
    if (this.#skippedFromMs === null) return;
    this.#dropped.add(frames);
    this.#skippedMs += Math.max(0, untilMs - this.#skippedFromMs);
    this.#skippedFromMs = untilMs;
  }
}
