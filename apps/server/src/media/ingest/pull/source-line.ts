import type { Socket } from "node:net";
import { FormatError } from "@weir/formats/bits";
import { PULL } from "../../../platform/outbound/outbound.ts";
import type { SourceOpening } from "./source-opening.ts";
import { CLOSED, connectionProblem, LOST, notCalled, SourceProblem, UNREACHABLE } from "./source-problem.ts";

const QUIET_MS = 15_000;
/** The connection is not read beyond this. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/**
 * What a piece costs beside its bytes: memory, and time, for all that wait are read in one turn of the event loop. A source decides how small they are.
 */
const PIECE_BYTES = 1024;
/** Nothing more is said to a source that reads less than it is told. */
const MAX_UNSENT_BYTES = 64 * 1024;
/** For what was said last. */
const LAST_BYTES_MS = 1_000;

export interface SourceAddress {
  readonly url: string;
  readonly isSecure: boolean;
}

/** What a protocol does on the connection. */
export interface SourceProtocol<Piece> {
  opened?(): void;
  /** Throws `FormatError` for bytes that are not of the protocol. */
  read(bytes: Buffer): void;
  bytesOf(piece: Piece): number;
  /** The sentence for such bytes. */
  readonly damaged: string;
}

/** A connection to a source over TCP or TLS. What it sends is read piece by piece, waits here until then, and every wait has an end. */
export class SourceLine<Piece> {
  readonly #opening: Pick<SourceOpening, "clock" | "signal">;
  readonly #protocol: SourceProtocol<Piece>;
  readonly #socket: Socket;
  readonly #pieces: Piece[] = [];
  #bytes = 0;
  #isOpen = false;
  #failure: Error | null = null;
  #wake: () => void = () => {};
  readonly #stop: () => void;

  /** Throws `SourceProblem` for an address that is not called, and the signal's reason. */
  constructor(
    { url, isSecure }: SourceAddress,
    opening: Pick<SourceOpening, "clock" | "signal"> & { readonly outbound: Pick<SourceOpening["outbound"], "dial"> },
    protocol: SourceProtocol<Piece>,
  ) {
    const { outbound, signal } = opening;
    signal.throwIfAborted();
    const socket = outbound.dial({ url, purpose: PULL, isSecure });
    if (typeof socket === "string") throw new SourceProblem(notCalled(socket));
    this.#opening = opening;
    this.#protocol = protocol;
    this.#socket = socket;
    this.#stop = () => this.fail(signal.reason);
    signal.addEventListener("abort", this.#stop, { once: true });
    socket.once(isSecure ? "secureConnect" : "connect", () => {
      this.#isOpen = true;
      protocol.opened?.();
      this.#wake();
    });
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("error", (error) => this.fail(new SourceProblem(this.#isOpen ? LOST : connectionProblem(error))));
    socket.on("close", () => this.fail(new SourceProblem(this.#isOpen ? CLOSED : UNREACHABLE)));
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get hasFailed(): boolean {
    return this.#failure !== null;
  }

  /** The source does not read what it is told. */
  get isUnread(): boolean {
    return this.#socket.writableLength > MAX_UNSENT_BYTES;
  }

  /** False where the source does not read what it is told: then this is not sent. */
  write(bytes: Uint8Array | string): boolean {
    if (this.isUnread) return false;
    this.#socket.write(bytes);
    return true;
  }

  /** The protocol has read a piece. */
  arrived(piece: Piece): void {
    this.#pieces.push(piece);
    this.#bytes += this.#sizeOf(piece);
    if (this.#bytes > MAX_WAITING_BYTES) this.#socket.pause();
    this.#wake();
  }

  /** The next piece, or null once `isOver` and all were read. Throws `SourceProblem`, and the signal's reason. */
  async next(isOver = () => false): Promise<Piece | null> {
    await this.until(() => this.#pieces.length > 0 || isOver(), QUIET_MS, LOST);
    const piece = this.#pieces.shift();
    if (piece === undefined) return null;
    this.#bytes -= this.#sizeOf(piece);
    if (this.#bytes < MAX_WAITING_BYTES / 2) this.#socket.resume();
    return piece;
  }

  /** Resolves once `isDone` holds, after what changed it called `changed`. What has arrived is read before the failure that followed it. */
  async until(isDone: () => boolean, withinMs: number, late: string): Promise<void> {
    const { clock, signal } = this.#opening;
    const deadline = clock.after(withinMs, () => this.fail(new SourceProblem(this.#isOpen ? late : UNREACHABLE)));
    try {
      while (!isDone()) {
        if (this.#failure) throw this.#failure;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      signal.throwIfAborted();
    } finally {
      deadline.cancel();
    }
  }

  /** Something that `until` waits for may hold now. */
  changed(): void {
    this.#wake();
  }

  fail(error: Error): void {
    this.#failure ??= error;
    this.#socket.destroy();
    this.#wake();
  }

  /** Nothing more is read; what was written goes out. */
  end(): void {
    this.#release();
    this.#failure ??= new SourceProblem(LOST);
    this.#socket.removeAllListeners("data").on("error", () => {});
    this.#socket.end(() => this.#socket.destroy());
    this.#opening.clock.after(LAST_BYTES_MS, () => this.#socket.destroy());
  }

  /** Ends it at once. Returns what was not read. */
  close(): Piece[] {
    this.#release();
    this.fail(new SourceProblem(LOST));
    return this.#pieces.splice(0);
  }

  #release(): void {
    this.#opening.signal.removeEventListener("abort", this.#stop);
  }

  #sizeOf(piece: Piece): number {
    return this.#protocol.bytesOf(piece) + PIECE_BYTES;
  }

  #read(chunk: Buffer): void {
    if (this.#failure) return;
    try {
      this.#protocol.read(chunk);
    } catch (error) {
      this.fail(error instanceof FormatError ? new SourceProblem(this.#protocol.damaged) : (error as Error));
    }
  }
}
