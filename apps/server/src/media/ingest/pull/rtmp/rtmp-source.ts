import { type PlayRefusal, type RtmpAddress, RtmpPlayClient, rtmpAddressOf } from "@weir/formats/rtmp";
import { HANDSHAKE_CRYPTO } from "../../../../platform/handshake-crypto.ts";
import type { PullSource } from "../../../../ports/index.ts";
import { SourceLine } from "../source-line.ts";
import type { SourceOpening } from "../source-opening.ts";
import { SourceProblem } from "../source-problem.ts";

/** From the connection's begin until the server accepts to send. */
const PLAYING_WITHIN_MS = 15_000;

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
  using connection = new PlayConnection(url, address, opening);
  await connection.playing();
  for (let piece = await connection.next(); piece; piece = await connection.next()) yield piece;
}

/** One connection as a player. */
class PlayConnection implements Disposable {
  readonly #memory: SourceOpening["memory"];
  readonly #line: SourceLine<RtmpPiece>;
  #isPlaying = false;
  #isComplete = false;

  constructor(url: string, address: RtmpAddress, opening: SourceOpening) {
    const { memory } = opening;
    this.#memory = memory;
    const client = new RtmpPlayClient(
      {
        write: (bytes) => void this.#line.write(bytes),
        playing: () => {
          this.#isPlaying = true;
          this.#line.changed();
        },
        media: (kind, timestamp, payload) => this.#line.arrived({ kind, timestamp, payload }),
        complete: () => {
          this.#isComplete = true;
          this.#line.changed();
        },
        refused: (why) => this.#line.fail(new SourceProblem(REFUSED[why])),
      },
      address,
      (bytes) => memory.allocate(bytes),
    );
    this.#line = new SourceLine({ url, isSecure: address.isSecure }, opening, {
      opened: () => client.start(HANDSHAKE_CRYPTO),
      read: (bytes) => client.push(bytes),
      bytesOf: ({ payload }) => payload.byteLength,
      damaged: NOT_RTMP,
    });
  }

  /** Resolves when the server sends the stream. */
  playing(): Promise<void> {
    return this.#line.until(
      () => this.#isPlaying,
      PLAYING_WITHIN_MS,
      "The source did not begin to send the stream within 15 s.",
    );
  }

  /** Null at the end of a recorded stream. */
  next(): Promise<RtmpPiece | null> {
    return this.#line.next(() => this.#isComplete);
  }

  [Symbol.dispose](): void {
    for (const { payload } of this.#line.close()) this.#memory.release(payload);
  }
}
