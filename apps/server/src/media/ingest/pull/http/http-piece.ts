import type { Mp4Frame, SourceFormat } from "@weir/formats/mp4";
import type { LeftOut } from "../../left-out.ts";

/** Which tracks of it count: all, or one kind where the sound has a playlist of its own. */
export type PieceOf = "both" | "video" | "audio";

/** What a source over HTTP sends: bytes of a transport stream, or the tracks and frames of MP4. `others`: tracks that are not taken. */
export type HttpPiece =
  | { readonly type: "ts"; readonly of: PieceOf; readonly bytes: Uint8Array }
  | { readonly type: "others"; readonly leftOut: Partial<LeftOut> }
  | { readonly type: "track"; readonly format: SourceFormat }
  | { readonly type: "frame"; readonly frame: Mp4Frame };
