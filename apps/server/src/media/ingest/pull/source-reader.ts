import type { PullSource } from "../../../ports/index.ts";
import type { Publication } from "../../packet.ts";
import type { TsToPacketsSettings } from "../ts/ts-to-packets.ts";
import type { SourceOpening } from "./source-opening.ts";

/** Makes packets of what a source sends. */
export interface SourceReader<Piece> {
  /** What is missing before there is media, as a sentence; null once a track was found. */
  readonly missing: string | null;
  /** Tracks that the source has and that are not taken, as a sentence; null if there are none. */
  readonly leftOut: string | null;
  /** Throws `UnsupportedCodec` and `FormatError`. */
  push(piece: Piece): void;
  /** The source has ended: passes on what is whole. Throws as `push` does. */
  end(): void;
  close(): void;
}

/** One way to pull: how a source is connected to, and how what it sends is read. */
export interface SourceKind<Piece> {
  open(source: Pick<PullSource, "url" | "headers">, opening: SourceOpening): AsyncIterable<Piece>;
  reader(sink: Pick<Publication, "track" | "packet">, settings: TsToPacketsSettings): SourceReader<Piece>;
}
