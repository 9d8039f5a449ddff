import type { Libsrt } from "./libsrt.ts";
import type { SrtCallerEvents } from "./srt-caller.ts";
import { rejectionSentence } from "./srt-rejection.ts";

/** An SRT message has at most 1,456 bytes of payload. */
const MESSAGE_ROOM = 2_048;
/** What has come is passed on in pieces of at most this. */
const PIECE_BYTES = 64 * 1024;

export interface SrtReaderEvents extends SrtCallerEvents {
  media(bytes: Uint8Array): void;
}

/** One connection to a source, in the child. What is not read waits in libsrt, which drops what is too late. */
export class SrtReader {
  readonly #srt: Libsrt;
  readonly #socket: number;
  readonly #events: SrtReaderEvents;
  #piece = Buffer.alloc(0);
  #isConnected = false;
  /** How often it seemed to be over before it was connected. */
  #overLooks = 0;
  #isOver = false;

  constructor(srt: Libsrt, socket: number, events: SrtReaderEvents) {
    this.#srt = srt;
    this.#socket = socket;
    this.#events = events;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Call every few milliseconds. */
  look(): void {
    if (this.#isOver) return;
    const state = this.#srt.stateOf(this.#socket);
    if (state === "connected" && !this.#isConnected) {
      this.#isConnected = true;
      this.#piece = Buffer.alloc(PIECE_BYTES);
      this.#events.connected();
    }
    if (this.#isConnected) return this.#read();
    // While a handshake completes, libsrt is for a moment neither connecting nor connected (CUDTSocket::getStatus).
    if (state === "over" && this.#overLooks++ > 0)
      this.#fail(rejectionSentence(this.#srt.rejectionOf(this.#socket), "source"));
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#srt.close(this.#socket);
  }

  #read(): void {
    let filled = 0;
    for (;;) {
      const bytes = this.#srt.receive(this.#socket, this.#piece.subarray(filled, filled + MESSAGE_ROOM));
      if (bytes > 0) filled += bytes;
      if (filled > 0 && (bytes <= 0 || filled + MESSAGE_ROOM > PIECE_BYTES)) {
        this.#events.media(this.#piece.subarray(0, filled));
        filled = 0;
      }
      if (bytes < 0) return this.#fail("The source closed the connection or stopped responding.");
      if (bytes === 0) return;
    }
  }

  #fail(reason: string): void {
    this.close();
    this.#events.failed(reason);
  }
}
