import type { Payload } from "../packet.ts";
import type { LineBatch, LineReader } from "./broadcast-line.ts";
import type { TargetConnection } from "./target-connection.ts";

/**
 * From a line to one target. Bytes that the target has not taken wait in its connection, up to a limit; beyond, media are left out up to
 * the next keyframe that finds room. So a slow target goes on with what is current, and costs the source and other targets nothing.
 */
export class TargetOutlet implements LineReader {
  readonly #connection: TargetConnection;
  readonly #maxQueued: () => number;
  /** Nothing is sent before the next keyframe. */
  #waits = true;
  #written = 0;
  /** Runs that the target has not taken, each with how much was written up to its end. */
  readonly #untaken: { readonly run: Payload; readonly end: number }[] = [];
  /** Null while nothing is left out, and before it began. */
  #skippedFromMs: number | null = null;
  #skippedMs = 0;
  #mediaTimeMs = 0;
  #refusal: string | null = null;

  constructor(connection: TargetConnection, maxQueued: () => number) {
    this.#connection = connection;
    this.#maxQueued = maxQueued;
  }

  /** Bytes of media that the target took. */
  get takenBytes(): number {
    return Math.max(0, this.#written - this.#connection.queuedBytes);
  }

  get queuedBytes(): number {
    return this.#connection.queuedBytes;
  }

  /** Why the target's protocol does not carry the broadcast; null where it does. */
  get refusal(): string | null {
    return this.#refusal;
  }

  /** How far the media goes that was sent, in milliseconds of the timeline. */
  get mediaTimeMs(): number {
    return this.#mediaTimeMs;
  }

  /** Media that was left out because the target was too slow. */
  get skippedMs(): number {
    return this.#skippedMs;
  }

  batch({ run, opening, mediaTimeMs }: LineBatch): void {
    this.#releaseTaken();
    const most = this.#maxQueued();
    const { queuedBytes } = this.#connection;
    if (this.#waits) {
      if (!opening || queuedBytes > most / 4) return this.#leaveOut(mediaTimeMs);
      this.#waits = false;
      this.#skippedFromMs = null;
      this.#send(opening);
    } else if (queuedBytes + run.byteLength > most) {
      this.#waits = true;
      this.#skippedFromMs = this.#mediaTimeMs;
      return this.#leaveOut(mediaTimeMs);
    }
    this.#send(run.bytes);
    this.#keepUntaken(run);
    this.#mediaTimeMs = mediaTimeMs;
  }

  /** The connection is over. It may still read what it has not taken, so that is left to the garbage collector. */
  close(): void {
    this.#releaseTaken();
    this.#untaken.length = 0;
  }

  refuse(reason: string): void {
    this.#refusal = reason;
  }

  #send(bytes: Uint8Array): void {
    if (bytes.byteLength === 0) return;
    this.#written += bytes.byteLength;
    this.#connection.write(bytes);
  }

  /** A target that keeps up takes it at once. */
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

  #leaveOut(untilMs: number): void {
    if (this.#skippedFromMs === null) return;
    this.#skippedMs += Math.max(0, untilMs - this.#skippedFromMs);
    this.#skippedFromMs = untilMs;
  }
}
