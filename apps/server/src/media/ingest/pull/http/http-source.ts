import type { PullSource } from "../../../../ports/index.ts";
import type { SourceOpening } from "../source-opening.ts";
import { CLOSED, SourceProblem, UnclearEnd } from "../source-problem.ts";
import type { SourceKind } from "../source-reader.ts";
import { hlsMedia } from "./hls-source.ts";
import type { HttpPiece } from "./http-piece.ts";
import { HttpReader } from "./http-reader.ts";
import { mp4File } from "./mp4-pieces.ts";
import { SourceRequests } from "./source-requests.ts";

const MAX_PLAYLIST_BYTES = 4 * 1024 * 1024;
/** Enough to tell the kinds of sources apart. */
const MARK_BYTES = 12;

/** HLS, MPEG-TS and MP4 over HTTP. */
export const HTTP: SourceKind<HttpPiece> = {
  open: openHttp,
  reader: (sink, settings) => new HttpReader(sink, settings),
};

/**
 * The media of a source, to its end. It throws `SourceProblem` where it cannot be had, is lost, or is of another kind. A body of neither a length nor
 * an end is that of a live source, whose end is a loss.
 */
export async function* openHttp(
  { url, headers }: Pick<PullSource, "url" | "headers">,
  opening: SourceOpening,
): AsyncGenerator<HttpPiece, void> {
  const requests = new SourceRequests({ url, headers, ...opening });
  const body = await requests.open(url);
  if (!body) throw new SourceProblem("The source answered that there is nothing at its address (404).");
  const chunks = body.chunks[Symbol.asyncIterator]();
  const all: AsyncIterable<Uint8Array> = { [Symbol.asyncIterator]: () => chunks };
  try {
    const mark = await firstBytes(chunks);
    const kind = kindOf(mark);
    if (kind === "hls") {
      const text = Buffer.concat([mark, await requests.readWhole(all, MAX_PLAYLIST_BYTES)]).toString("utf8");
      return yield* hlsMedia(body.url, text, { requests, ...opening });
    }
    if (kind === "mp4") return yield* mp4File(requests, { ...body, chunks: all }, mark, opening);
    if (kind === null) throw new SourceProblem("The source is neither an HLS playlist nor MPEG-TS nor MP4.");
    yield { type: "ts", of: "both", bytes: mark };
    for await (const bytes of all) yield { type: "ts", of: "both", bytes };
  } finally {
    await chunks.return?.();
  }
  if (body.bytes === null) throw body.isChunked ? new UnclearEnd() : new SourceProblem(CLOSED);
}

async function firstBytes(chunks: AsyncIterator<Uint8Array>): Promise<Buffer> {
  let mark = Buffer.alloc(0);
  while (mark.byteLength < MARK_BYTES) {
    const { done, value } = await chunks.next();
    if (done) break;
    mark = Buffer.concat([mark, value]);
  }
  return mark;
}

function kindOf(mark: Buffer): "hls" | "ts" | "mp4" | null {
  if (
    mark
      .toString("utf8")
      .replace(/^\uFEFF/, "")
      .startsWith("#EXTM3U")
  )
    return "hls";
  if (["ftyp", "styp", "moov", "moof", "wide", "mdat", "sidx"].includes(mark.toString("latin1", 4, 8))) return "mp4";
  // Its reader finds where packets begin, if the first does not.
  const text = mark.toString("latin1").trimStart();
  return mark[0] === 0x47 || (mark.byteLength > 0 && !/^[<{[]/.test(text)) ? "ts" : null;
}
