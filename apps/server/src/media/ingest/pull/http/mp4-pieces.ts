import { Mp4Reader } from "@weir/formats/mp4";
import type { SourceOpening } from "../source-opening.ts";
import { LOST, SourceProblem, UnclearEnd } from "../source-problem.ts";
import type { HttpPiece, PieceOf } from "./http-piece.ts";
import type { SourceBody, SourceRequests } from "./source-requests.ts";

const APART =
  "The source's MP4 file keeps picture and sound too far apart to be played while it is read. Write it anew, for example with ffmpeg -c copy -movflags +faststart.";
const NO_INDEX =
  "The source's MP4 file has no index (moov), so it cannot be played. It may not have been written to its end.";
const TOO_MUCH = "This server keeps too much of other sources to read the index of this MP4 file now.";

const NOTHING = "The source's MP4 sends too much that is neither picture nor sound.";
/** Pictures of a cover, or a track that is not taken; without a bound, such bytes would be read as fast as they come. */
const MAX_IDLE_BYTES = 64 * 1024 * 1024;

type Mp4Opening = Pick<SourceOpening, "memory" | "ahead">;

/** The tracks and frames in bytes of MP4. Throws `SourceProblem` and `FormatError`. */
export class Mp4Pieces implements Disposable {
  readonly reader: Mp4Reader;
  readonly #opening: Mp4Opening;
  #found: HttpPiece[] = [];
  #kept = 0;
  /** Since the last track or frame. */
  #idleBytes = 0;

  constructor(of: PieceOf, opening: Mp4Opening) {
    this.#opening = opening;
    const isWanted = (kind: "video" | "audio") => of === "both" || of === kind;
    this.reader = new Mp4Reader(
      {
        others: (leftOut) => void this.#found.push({ type: "others", leftOut }),
        track: (format) => {
          if (isWanted(format.kind)) this.#found.push({ type: "track", format });
        },
        frame: (frame) => {
          if (isWanted(frame.kind)) this.#found.push({ type: "frame", frame });
          else opening.memory.release(frame.data);
        },
        apart() {
          throw new SourceProblem(APART);
        },
      },
      (bytes) => opening.memory.allocate(bytes),
    );
  }

  /** At `at` of its file a box begins. */
  take(bytes: Uint8Array, at: number | null = null): readonly HttpPiece[] {
    if (at !== null) this.reader.seek(at);
    this.reader.push(bytes);
    this.#count(this.reader.kept);
    this.#idleBytes = this.#found.length > 0 ? 0 : this.#idleBytes + bytes.byteLength;
    if (this.#idleBytes > MAX_IDLE_BYTES) throw new SourceProblem(NOTHING);
    return this.#found.splice(0);
  }

  [Symbol.dispose](): void {
    this.#count(0);
  }

  #count(kept: number): void {
    const { ahead } = this.#opening;
    if (kept > this.#kept && !ahead.hasShared(kept - this.#kept)) throw new SourceProblem(TOO_MUCH);
    ahead.add(kept - this.#kept);
    this.#kept = kept;
  }
}

/**
 * The pieces of an MP4 file whose answer has begun with `mark`: to its last frame, or as fragments until the answer ends. An index behind the media
 * is read first, by a request for that part of the file.
 */
export async function* mp4File(
  requests: SourceRequests,
  body: SourceBody,
  mark: Uint8Array,
  opening: Mp4Opening,
): AsyncGenerator<HttpPiece, void> {
  using pieces = new Mp4Pieces("both", opening);
  const { reader } = pieces;
  const isEnough = () => reader.isComplete || reader.mediaBeforeIndex !== null;
  const chunks = body.chunks[Symbol.asyncIterator]();
  yield* pieces.take(mark);
  for (let next = null; !isEnough(); ) {
    next = await chunks.next();
    if (next.done) break;
    yield* pieces.take(next.value);
  }
  // The connection is closed before another one is opened.
  await chunks.return?.();
  const media = reader.mediaBeforeIndex;
  if (media) {
    if (!reader.hasIndex && Number.isFinite(media.end))
      yield* piecesFrom(requests, body.url, media.end, pieces, () => reader.hasIndex);
    if (!reader.hasIndex) throw new SourceProblem(NO_INDEX);
    yield* piecesFrom(requests, body.url, media.at, pieces, () => reader.isComplete);
  }
  if (reader.isComplete) return;
  if (!reader.hasIndex) throw new SourceProblem(NO_INDEX);
  if (reader.isFile) throw new SourceProblem(LOST);
  if (body.bytes === null) throw new UnclearEnd();
}

async function* piecesFrom(
  requests: SourceRequests,
  url: string,
  offset: number,
  pieces: Mp4Pieces,
  isEnough: () => boolean,
): AsyncGenerator<HttpPiece, void> {
  const body = await requests.open(url, { offset, length: null });
  if (!body) throw new SourceProblem("The source's file was taken away while it was read.");
  let at: number | null = offset;
  for await (const chunk of body.chunks) {
    yield* pieces.take(chunk, at);
    at = null;
    if (isEnough()) return;
  }
}
