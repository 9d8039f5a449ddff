import { createHmac, randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { FormatError } from "@weir/formats/bits";
import { type PlayRefusal, type RtmpAddress, RtmpPlayClient, rtmpAddressOf } from "@weir/formats/rtmp";
import { PULL } from "../../../../platform/outbound/outbound.ts";
import type { PullSource } from "../../../../ports/index.ts";
import type { SourceOpening } from "../source-opening.ts";
import { CLOSED, connectionProblem, LOST, notCalled, SourceProblem, UNREACHABLE } from "../source-problem.ts";

/** From the connection's begin until the server accepts to send. */
const PLAYING_WITHIN_MS = 15_000;
const QUIET_MS = 15_000;
/** The connection is not read beyond this. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/** What a short message costs beside its bytes. */
const MESSAGE_BYTES = 64;
/** Pings are not answered while more than this is unread. */
const MAX_UNSENT_BYTES = 64 * 1024;

const CRYPTO = {
  hmacSha256: (key: Uint8Array, data: Uint8Array): Uint8Array => createHmac("sha256", key).update(data).digest(),
  random: (bytes: number): Uint8Array => new Uint8Array(randomBytes(bytes)),
};

/** A message of the stream, whose memory goes to its reader. */
export interface RtmpPiece {
  readonly kind: "video" | "audio" | "data";
  /** Milliseconds, modulo 2^32. */
  readonly timestamp: number;
  readonly payload: Uint8Array;
}

const REFUSED: Record<PlayRefusal, string> = {
  "not-found": "The source says that there is no such stream. Check the end of its address.",
  redirect: "The source leads to another address, which Weir does not follow over RTMP. Use that address.",
  refused: "The source refused to send the stream. Check its application, stream name and query.",
  over: "The broadcast at the source has ended.",
};
const NOT_RTMP = "The source does not speak RTMP, or what it sent is damaged.";

/** The stream of an RTMP server, to which this one connects as a player. Throws `SourceProblem`, and the signal's reason. */
export async function* openRtmp(
  { url }: Pick<PullSource, "url">,
  opening: SourceOpening,
): AsyncGenerator<RtmpPiece, void> {
  const address = rtmpAddressOf(url);
  if (!address) throw new SourceProblem("The source has no application or stream name: rtmp://host/application/name.");
  opening.signal.throwIfAborted();
  const socket = opening.outbound.dial({ url, purpose: PULL, isSecure: address.isSecure });
  if (typeof socket === "string") throw new SourceProblem(notCalled(socket));
  using connection = new PlayConnection(socket, address, opening);
  await connection.playing();
  for (let piece = await connection.next(); piece; piece = await connection.next()) yield piece;
}

/** One connection as a player, of which the messages are read one by one. */
class PlayConnection implements Disposable {
  readonly #opening: SourceOpening;
  readonly #socket: Socket;
  readonly #client: RtmpPlayClient;
  readonly #pieces: RtmpPiece[] = [];
  #bytes = 0;
  #isOpen = false;
  #isPlaying = false;
  #isComplete = false;
  #failure: Error | null = null;
  #wake: () => void = () => {};
  readonly #stop: () => void;

  constructor(socket: Socket, address: RtmpAddress, opening: SourceOpening) {
    const { signal, memory } = opening;
    this.#opening = opening;
    this.#socket = socket;
    this.#client = new RtmpPlayClient(
      {
        write: (bytes) => this.#write(bytes),
        playing: () => {
          this.#isPlaying = true;
          this.#wake();
        },
        media: (kind, timestamp, payload) => this.#arrived({ kind, timestamp, payload }),
        complete: () => {
          this.#isComplete = true;
          this.#wake();
        },
        refused: (why) => this.#fail(new SourceProblem(REFUSED[why])),
      },
      address,
      (bytes) => memory.allocate(bytes),
    );
    this.#stop = () => this.#fail(signal.reason);
    signal.addEventListener("abort", this.#stop, { once: true });
    socket.once(address.isSecure ? "secureConnect" : "connect", () => {
      this.#isOpen = true;
      this.#client.start(CRYPTO);
    });
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("error", (error) => this.#fail(new SourceProblem(this.#isOpen ? LOST : connectionProblem(error))));
    socket.on("close", () => this.#fail(new SourceProblem(this.#isOpen ? CLOSED : UNREACHABLE)));
  }

  /** Resolves when the server sends the stream. */
  playing(): Promise<void> {
    return this.#until(
      () => this.#isPlaying,
      PLAYING_WITHIN_MS,
      () => (this.#isOpen ? "The source did not begin to send the stream within 15 s." : UNREACHABLE),
    );
  }

  /** Null at the end of a recorded stream. */
  async next(): Promise<RtmpPiece | null> {
    await this.#until(
      () => this.#pieces.length > 0 || this.#isComplete,
      QUIET_MS,
      () => LOST,
    );
    const piece = this.#pieces.shift();
    if (!piece) return null;
    this.#bytes -= piece.payload.byteLength + MESSAGE_BYTES;
    if (this.#bytes < MAX_WAITING_BYTES / 2) this.#socket.resume();
    return piece;
  }

  [Symbol.dispose](): void {
    const { signal, memory } = this.#opening;
    signal.removeEventListener("abort", this.#stop);
    this.#fail(new SourceProblem(LOST));
    for (const { payload } of this.#pieces.splice(0)) memory.release(payload);
  }

  /** What has arrived is read before the failure that followed it. */
  async #until(isDone: () => boolean, ms: number, late: () => string): Promise<void> {
    const deadline = this.#opening.clock.after(ms, () => this.#fail(new SourceProblem(late())));
    try {
      while (!isDone()) {
        if (this.#failure) throw this.#failure;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      this.#opening.signal.throwIfAborted();
    } finally {
      deadline.cancel();
    }
  }

  #write(bytes: Uint8Array): void {
    if (this.#socket.writableLength <= MAX_UNSENT_BYTES) this.#socket.write(bytes);
  }

  #read(chunk: Buffer): void {
    if (this.#failure) return;
    try {
      this.#client.push(chunk);
    } catch (error) {
      this.#fail(error instanceof FormatError ? new SourceProblem(NOT_RTMP) : (error as Error));
    }
  }

  #arrived(piece: RtmpPiece): void {
    this.#pieces.push(piece);
    this.#bytes += piece.payload.byteLength + MESSAGE_BYTES;
    if (this.#bytes > MAX_WAITING_BYTES) this.#socket.pause();
    this.#wake();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#socket.destroy();
    this.#wake();
  }
}
