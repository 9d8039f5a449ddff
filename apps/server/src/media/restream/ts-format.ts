import { FormatError } from "@weir/formats/bits";
import { TsMuxer } from "@weir/formats/ts";
import type { LineFormat, LineFrame, LineTracks } from "./line-format.ts";
import type { LinePages } from "./line-pages.ts";

const NOTHING = new Uint8Array(0);

/** An MPEG transport stream. Its tables precede each keyframe, so a target that starts there needs no opening. */
export class TsFormat implements LineFormat {
  /** Receivers synchronize their clock to the arrival of packets. */
  readonly batchMs = 50;
  readonly #muxer = new TsMuxer();

  begin({ video, audio }: LineTracks): string | null {
    if (video?.codec === "av1")
      return "SRT targets support H.264 and H.265, but this stream is AV1. Use another encoder or rendition.";
    try {
      this.#muxer.begin({ video: video && { codec: video.codec, config: video.config }, audio });
      return null;
    } catch (error) {
      if (error instanceof FormatError)
        return "MPEG-TS, the format of SRT targets, does not support the audio or video of this stream.";
      throw error;
    }
  }

  opening(): Uint8Array {
    return NOTHING;
  }

  write(pages: LinePages, frame: LineFrame): void {
    try {
      this.#muxer.write(frame, (bytes) => pages.allocate(bytes));
    } catch (error) {
      // A malformed frame is skipped. Other formats pass it on unchanged.
      if (!(error instanceof FormatError)) throw error;
    }
  }
}
