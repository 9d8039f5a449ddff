import { FormatError } from "@weir/formats/bits";
import { TsMuxer } from "@weir/formats/ts";
import type { LineFormat, LineFrame, LineTracks } from "../line-format.ts";
import type { LinePages } from "../line-pages.ts";

const NOTHING = new Uint8Array(0);

/** An MPEG transport stream. Its tables stand before each keyframe, so a target that begins there needs nothing before. */
export class TsFormat implements LineFormat {
  /** Receivers set their clocks by what arrives when. */
  readonly batchMs = 50;
  readonly #muxer = new TsMuxer();

  begin({ video, audio }: LineTracks): string | null {
    if (video?.codec === "av1")
      return "SRT targets take H.264 and H.265, and this is AV1. Choose another encoder or rendition.";
    try {
      this.#muxer.begin({ video: video && { codec: video.codec, config: video.config }, audio });
      return null;
    } catch (error) {
      if (error instanceof FormatError)
        return "MPEG-TS, which SRT targets take, cannot describe the audio or video of this stream.";
      throw error;
    }
  }

  opening(): Uint8Array {
    return NOTHING;
  }

  write(pages: LinePages, { kind, decodeTicks, presentationTicks, isIndependent, data }: LineFrame): void {
    const unit = { kind, decodeTicks, presentationTicks, isIndependent, data };
    try {
      this.#muxer.write(unit, (bytes) => pages.room(bytes));
    } catch (error) {
      // A damaged frame is left out. Other targets have it as it is.
      if (!(error instanceof FormatError)) throw error;
    }
  }
}
