import { FormatError } from "@weir/formats/bits";
import { readAudioTag } from "@weir/formats/flv";
import { readMetadata } from "@weir/formats/rtmp";
import type { Publication, Track } from "../../../packet.ts";
import { RtmpToPackets } from "../../rtmp/rtmp-to-packets.ts";
import type { TsToPacketsSettings } from "../../ts/ts-to-packets.ts";
import type { SourceKind, SourceReader } from "../source-reader.ts";
import { openRtmp, type RtmpPiece } from "./rtmp-source.ts";

/** Servers of RTMP and RTMPS, which are connected to as a player does. */
export const RTMP: SourceKind<RtmpPiece> = {
  open: openRtmp,
  reader: (sink, settings) => new RtmpReader(sink, settings),
};

/** Of sound alone, from a server that has announced video. Longer than the keyframe intervals of most encoders. */
const PICTURE_WITHIN_MS = 10_000;
/** Typical metadata has a few hundred bytes. */
const MAX_METADATA_BYTES = 16 * 1024;

/**
 * A server without a cache sends nothing but sound until the next keyframe. That sound is left out where metadata announces video: a session that
 * began with sound alone would have no picture for those who come first.
 */
class RtmpReader implements SourceReader<RtmpPiece> {
  /** The server sends one of each. */
  readonly leftOut = null;
  readonly #packets: RtmpToPackets;
  readonly #memory: TsToPacketsSettings["memory"];
  #hasTrack = false;
  /** Time of the first sound that was left out; null before. */
  #soundSince: number | null = null;
  #awaitsVideo = false;

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
      if (this.#packets.video(timestamp, payload)) this.#awaitsVideo = false;
    } else if (kind === "audio") {
      if (!this.#awaitsPicture(timestamp)) this.#packets.audio(timestamp, payload);
      else if (isConfig(payload)) this.#packets.audio(timestamp, payload);
      else this.#memory.release(payload);
    } else {
      this.#packets.data(payload);
      this.#awaitsVideo ||= !this.#hasTrack && announcesVideo(payload);
    }
  }

  #awaitsPicture(timestamp: number): boolean {
    if (!this.#awaitsVideo) return false;
    this.#soundSince ??= timestamp;
    this.#awaitsVideo = ((timestamp - this.#soundSince) | 0) < PICTURE_WITHIN_MS;
    return this.#awaitsVideo;
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
