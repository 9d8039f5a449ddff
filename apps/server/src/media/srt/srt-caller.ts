import type { Libsrt } from "./libsrt.ts";
import { rejectionSentence } from "./srt-rejection.ts";

/** Payload of one SRT live message: seven transport stream packets. */
const MESSAGE_BYTES = 7 * 188;
/**
 * A finished connection whose target confirms nothing more in this time is closed. In live mode libsrt repeats a lost packet only when the target names
 * it, and the target sees no gap before the last packet (CUDT::checkRexmitTimer).
 */
const CONFIRM_WITHIN_MS = 2_000;

export interface SrtCallerEvents {
  connected(): void;
  failed(reason: string): void;
}

/** One connection to a target, in the child. Data waits here until the library can accept it. */
export class SrtCaller {
  readonly #srt: Libsrt;
  readonly #socket: number;
  readonly #events: SrtCallerEvents;
  readonly #queue: Uint8Array[] = [];
  /** Bytes of the first queued piece already sent. */
  #offset = 0;
  #sent = 0;
  #isConnected = false;
  /** How often it seemed to be over before it was connected. */
  #overLooks = 0;
  #isClosing = false;
  /** What was taken when the last of it was confirmed, while closing. */
  #confirmed = { bytes: 0, at: 0 };
  #isOver = false;

  constructor(srt: Libsrt, socket: number, events: SrtCallerEvents) {
    this.#srt = srt;
    this.#socket = socket;
    this.#events = events;
  }

  /** Bytes that the target has acknowledged. */
  get taken(): number {
    return this.#sent - Math.min(this.#sent, this.#srt.unconfirmed(this.#socket));
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  give(bytes: Uint8Array): void {
    if (this.#isOver || this.#isClosing) return;
    this.#queue.push(bytes);
    if (this.#isConnected) this.#send();
  }

  /** Call every few milliseconds. */
  look(): void {
    if (this.#isOver) return;
    const state = this.#srt.stateOf(this.#socket);
    if (state === "over") {
      // While a handshake completes, libsrt is for a moment neither connecting nor connected (CUDTSocket::getStatus).
      const mayBeConnecting = !this.#isConnected && this.#overLooks++ === 0;
      return mayBeConnecting ? undefined : this.#fail();
    }
    if (state === "connected" && !this.#isConnected) {
      this.#isConnected = true;
      this.#events.connected();
    }
    if (this.#isConnected) this.#send();
    if (this.#isClosing && (this.#isAllConfirmed() || this.#confirmsNoMore())) this.close();
  }

  /** Closes the connection after the queued data is sent and confirmed, or the target confirms no more of it. */
  finish(): void {
    if (!this.#isConnected) return this.close();
    this.#isClosing = true;
    this.#confirmed = { bytes: this.taken, at: performance.now() };
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#queue.length = 0;
    this.#srt.close(this.#socket);
  }

  #isAllConfirmed(): boolean {
    return this.#queue.length === 0 && this.#srt.unconfirmed(this.#socket) === 0;
  }

  #confirmsNoMore(): boolean {
    const [bytes, now] = [this.taken, performance.now()];
    if (bytes > this.#confirmed.bytes) this.#confirmed = { bytes, at: now };
    return now - this.#confirmed.at >= CONFIRM_WITHIN_MS;
  }

  #send(): void {
    for (let piece = this.#queue[0]; piece; piece = this.#queue[0]) {
      const message = piece.subarray(this.#offset, this.#offset + MESSAGE_BYTES);
      const outcome = this.#srt.send(this.#socket, message);
      if (outcome === "full") return;
      if (outcome === "over") return this.#fail();
      this.#offset += message.byteLength;
      this.#sent += message.byteLength;
      if (this.#offset < piece.byteLength) continue;
      this.#queue.shift();
      this.#offset = 0;
    }
  }

  #fail(): void {
    const reason = this.#isConnected
      ? "The target closed the connection or stopped responding."
      : rejectionSentence(this.#srt.rejectionOf(this.#socket), "target");
    this.close();
    this.#events.failed(reason);
  }
}
