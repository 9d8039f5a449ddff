import { readPlaylist } from "@weir/formats/hls";
import { SourceProblem } from "../source-problem.ts";
import { HlsList, type HlsPiece, type HlsSettings } from "./hls-list.ts";
import type { HttpPiece } from "./http-piece.ts";
import { childOf } from "./source-requests.ts";

/** The media of an HLS playlist, of which the first text is known: of its best variant, and of that variant's sound where it has a playlist of its own. */
export async function* hlsMedia(url: string, text: string, settings: HlsSettings): AsyncGenerator<HttpPiece, void> {
  const first = readPlaylist(text);
  if (first.kind === "media") return yield* piecesOf(new HlsList(url, "both", settings).media(first));
  const [best] = first.variants.toSorted((a, b) => b.bandwidth - a.bandwidth);
  if (!best) throw new SourceProblem("The source's playlist names no variant.");
  const child = childOf(best.uri, url);
  yield { type: "others", leftOut: best.others };
  // A variant of sound alone names its own playlist as its sound.
  const sound = best.sound === null ? null : childOf(best.sound, url);
  if (sound === null || sound === child) return yield* piecesOf(new HlsList(child, "both", settings).media(null));
  yield* inStep(new HlsList(child, "video", settings).media(null), new HlsList(sound, "audio", settings).media(null));
}

async function* piecesOf(list: AsyncIterable<HlsPiece>): AsyncGenerator<HttpPiece, void> {
  for await (const piece of list) if (piece.type !== "segment") yield piece;
}

interface Run {
  readonly list: AsyncGenerator<HlsPiece, void>;
  seconds: number;
  isOver: boolean;
}

/** Both lists, a segment of that one at a time that is behind. */
async function* inStep(...lists: AsyncGenerator<HlsPiece, void>[]): AsyncGenerator<HttpPiece, void> {
  const runs = lists.map((list): Run => ({ list, seconds: 0, isOver: false }));
  try {
    for (;;) {
      const [behind] = runs.filter(({ isOver }) => !isOver).toSorted((a, b) => a.seconds - b.seconds);
      if (!behind) return;
      for (;;) {
        const { done, value } = await behind.list.next();
        behind.isOver = done === true;
        if (!value) break;
        if (value.type === "segment") {
          behind.seconds += value.seconds;
          break;
        }
        yield value;
      }
    }
  } finally {
    for (const { list } of runs) await list.return();
  }
}
