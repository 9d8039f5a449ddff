import { Dictionary, FormatContext, type Packet, type Stream } from "node-av/lib";
import { check } from "./ffmpeg.ts";
import type { GeneratedTrack } from "./generated-track.ts";

/** A muxer that writes FLV to an RTMP address or a file, and MPEG-TS to an SRT address. Packets come in order of decoding time. Runs inside a media child only. */
export class FlvOutput {
  readonly #format: FormatContext;
  readonly #streams = new Map<GeneratedTrack, Stream>();

  private constructor(format: FormatContext) {
    this.#format = format;
  }

  /** Resolves when the server has accepted the publication and the tracks are announced. */
  static async open(url: string, tracks: readonly GeneratedTrack[]): Promise<FlvOutput> {
    const format = new FormatContext();
    const name = url.startsWith("srt:") ? "mpegts" : "flv";
    check(format.allocOutputContext2(null, name, url), "cannot make the muxer");
    const output = new FlvOutput(format);
    for (const track of tracks) {
      const stream = format.newStream();
      check(stream.codecpar.fromContext(track.encoder), "cannot describe a track");
      stream.timeBase = track.encoder.timeBase;
      output.#streams.set(track, stream);
    }
    check(await format.openOutput(), "cannot connect");
    // Seeking back to write the duration is not possible on a connection.
    const options = Dictionary.fromObject({ flvflags: "no_duration_filesize" });
    check(await format.writeHeader(options), "cannot begin to publish");
    return output;
  }

  /** Writes at once, and frees the packet; its times are in the track's encoder's time base. */
  async write(track: GeneratedTrack, packet: Packet): Promise<void> {
    const stream = this.#streams.get(track);
    if (!stream) throw new Error("a packet of a track that was not announced");
    packet.streamIndex = stream.index;
    packet.rescaleTs(track.encoder.timeBase, stream.timeBase);
    const result = await this.#format.writeFrame(packet);
    packet.free();
    check(result, "the connection was closed");
  }

  /** Ends the publication the way that a person who presses stop does: FCUnpublish, deleteStream. */
  async close(): Promise<void> {
    await this.#format.writeTrailer();
    await this.#format.closeOutput();
    this.#format.freeContext();
  }
}
