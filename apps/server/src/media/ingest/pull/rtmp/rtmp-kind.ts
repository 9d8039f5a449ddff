import { FormatError } from "@weir/formats/bits";
import { readAudioTag } from "@weir/formats/flv";
import { readMetadata } from "@weir/formats/rtmp";
import { type Publication, TICKS_PER_SECOND, type Track } from "../../../packet.ts";
import { AwaitedPicture } from "../../awaited-picture.ts";
import { RtmpToPackets } from "../../rtmp/rtmp-to-packets.ts";
import type { TsToPacketsSettings } from "../../ts/ts-to-packets.ts";
import type { SourceKind, SourceReader } from "../source-reader.ts";
import { openRtmp, type RtmpPiece } from "./rtmp-source.ts";

/** Servers of RTMP and RTMPS, which are connected to as a player does. */
export const RTMP: SourceKind<RtmpPiece> = {
  open: openRtmp,
  reader: (sink, settings) => new RtmpReader(sink, settings),
};

const TICKS_PER_MS = TICKS_PER_SECOND / 1000;
/** Typical metadata has a few hundred bytes. */
const MAX_METADATA_BYTES = 16 * 1024;

/** A server without a cache sends nothing but sound until the next keyframe. Its metadata announces video. */
class RtmpReader implements SourceReader<RtmpPiece> {
  /** The server sends one of each. */
  readonly leftOut = null;
  readonly #packets: RtmpToPackets;
  readonly #memory: TsToPacketsSettings["memory"];
  #hasTrack = false;
  readonly #picture = new AwaitedPicture();

  constructor(sink: Pick<Publication, "track" | "packet">, { memory }: Pick<TsToPacketsSettings, "memory">) {
    this.#memory = memory;
    const track = (found: Track) => {
      this.#hasTrack = true;
      sink.track(found);
    };
    this.#packets = new RtmpToPackets({ track, packet: (packet) => sink.packet(packet) }, memory);
  }

  get missing(): string | null {
    return this.#hasTrack ? null : "The source has sent no configuration of video or audio. Restart its encoder.";
  }

  push({ kind, timestamp, payload }: RtmpPiece): void {
    if (kind === "video") {
      if (this.#packets.video(timestamp, payload)) this.#picture.settled();
    } else if (kind === "audio") {
      if (!this.#picture.leavesOut(timestamp * TICKS_PER_MS)) this.#packets.audio(timestamp, payload);
      else if (isConfig(payload)) this.#packets.audio(timestamp, payload);
      else this.#memory.release(payload);
    } else {
      this.#packets.data(payload);
      if (!this.#hasTrack && announcesVideo(payload)) this.#picture.announced();
    }
  }

  end(): void {}

  close(): void {}
}

function announcesVideo(payload: Uint8Array): boolean {
  if (payload.byteLength > MAX_METADATA_BYTES) return false;
  try {
    const { videocodecid = 0, width = 0 } = readMetadata(payload) ?? {};
    return videocodecid !== 0 || (typeof width === "number" && width > 0);
  } catch (error) {
    if (error instanceof FormatError) return false;
    throw error;
  }
}

/** Announces the track, which is wanted from the beginning. */
const isConfig = (payload: Uint8Array): boolean => readAudioTag(payload).content === "config";
