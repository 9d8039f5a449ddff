import type { Clock } from "../../../platform/clock.ts";
import type { Outbound } from "../../../platform/outbound/outbound.ts";
import type { PullSource } from "../../../ports/index.ts";
import type { PayloadMemory } from "../../packet.ts";
import type { SrtProcess } from "../../srt/index.ts";
import { HlsSource } from "./hls-source.ts";
import { CLOSED, SourceProblem } from "./source-problem.ts";
import { SourceRequests } from "./source-requests.ts";
import { srtSource } from "./srt/srt-source.ts";

const MAX_PLAYLIST_BYTES = 4 * 1024 * 1024;
/** Enough to tell the kinds of sources apart. */
const MARK_BYTES = 12;

export interface SourceOpening {
  readonly outbound: Pick<Outbound, "send" | "find" | "dial">;
  readonly srt: Pick<SrtProcess, "connect">;
  readonly clock: Clock;
  /** For what is read in pieces that packets are made of. */
  readonly memory: PayloadMemory & { allocate(bytes: number): Uint8Array };
  readonly signal: AbortSignal;
}

/**
 * The transport stream of a source, to its end. It throws `SourceProblem` where it cannot be had, is lost, or is of another kind. A body without a
 * length is that of a live source, whose end is a loss.
 */
export function openSource(
  source: Pick<PullSource, "url" | "headers">,
  settings: SourceOpening,
): AsyncGenerator<Uint8Array, void> {
  return /^srt:/i.test(source.url) ? srtSource(source.url, settings) : httpSource(source, settings);
}

async function* httpSource(
  { url, headers }: Pick<PullSource, "url" | "headers">,
  settings: SourceOpening,
): AsyncGenerator<Uint8Array, void> {
  const requests = new SourceRequests({ url, headers, ...settings });
  const body = await requests.open(url);
  if (!body) throw new SourceProblem("The source answered that there is nothing at its address (404).");
  const chunks = body.chunks[Symbol.asyncIterator]();
  const all: AsyncIterable<Uint8Array> = { [Symbol.asyncIterator]: () => chunks };
  const mark = await firstBytes(chunks);
  const kind = kindOf(mark);
  try {
    if (kind === "hls") {
      const text = Buffer.concat([mark, await requests.readWhole(all, MAX_PLAYLIST_BYTES)]).toString("utf8");
      return yield* new HlsSource({ requests, ...settings }).media(body.url, text);
    }
    if (kind === "mp4")
      throw new SourceProblem(
        "The source is an MP4 file, which Weir does not pull. Upload it as an asset, or use HLS or MPEG-TS.",
      );
    if (kind === null) throw new SourceProblem("The source is neither an HLS playlist nor an MPEG transport stream.");
    yield mark;
    yield* all;
  } finally {
    await chunks.return?.();
  }
  if (body.bytes === null) throw new SourceProblem(CLOSED);
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
  if (["ftyp", "styp", "moov", "moof"].includes(mark.toString("latin1", 4, 8))) return "mp4";
  // Its reader finds where packets begin, if the first does not.
  const text = mark.toString("latin1").trimStart();
  return mark[0] === 0x47 || (mark.byteLength > 0 && !/^[<{[]/.test(text)) ? "ts" : null;
}
