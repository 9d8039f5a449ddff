import {
  annexBToLengthPrefixed,
  avcParameterSets,
  describeAvc,
  isIdrAccessUnit,
  lengthPrefixedToAnnexB,
} from "@weir/formats/codecs";
import { AV_PKT_DATA_NEW_EXTRADATA, AV_PKT_FLAG_DISCARD } from "node-av/constants";
import type { Packet } from "node-av/lib";
import { videoTrackOf } from "../described-track.ts";
import type { VideoTrack } from "../packet.ts";
import { isInterlaced, orientationOf } from "./file-spec.ts";
import { CannotCopy } from "./refusal.ts";
import type { SourceTrack } from "./source-file.ts";

const AVC_SPS = 7;
const AVC_PPS = 8;

/** Video that players can play unchanged: H.264, 8 bits, 4:2:0, progressive and upright. Outputs access units with 4-byte lengths. */
export class VideoCopy {
  readonly track: VideoTrack;
  readonly #isAnnexB: boolean;
  readonly #lengthSize: number;
  readonly #sets: readonly Uint8Array[];
  #isFirst = true;

  private constructor(track: VideoTrack, isAnnexB: boolean, lengthSize: number) {
    this.track = track;
    this.#isAnnexB = isAnnexB;
    this.#lengthSize = lengthSize;
    const { sps, pps } = avcParameterSets(track.config);
    this.#sets = [...sps, ...pps].map(withoutZerosAtEnd);
  }

  /** Throws `CannotCopy`. */
  static of({ stream, codec }: SourceTrack): VideoCopy {
    if (codec !== "h264") throw new CannotCopy(`the video is ${codec}`);
    const { codecpar } = stream;
    const { turn, isMirrored } = orientationOf(stream);
    if (turn !== 0 || isMirrored) throw new CannotCopy("the video is rotated");
    if (isInterlaced(stream)) throw new CannotCopy("the video is interlaced");
    const record = codecpar.getDecoderConfigurationRecord();
    if (!record) throw new CannotCopy("the file has no decoder configuration");
    const isAnnexB = codecpar.extradata?.[0] !== 1;
    const config = Buffer.from(record);
    try {
      const { chroma, bitDepth, nalLengthSize } = describeAvc(config);
      if (chroma !== "4:2:0" || bitDepth !== 8) throw new CannotCopy(`the video is ${chroma} with ${bitDepth} bits`);
      config[4] = (config[4] ?? 0) | 3;
      return new VideoCopy(videoTrackOf("avc", config), isAnnexB, nalLengthSize);
    } catch (error) {
      if (error instanceof CannotCopy) throw error;
      throw new CannotCopy("its parameter sets are unreadable");
    }
  }

  /** The access unit, and whether decoding can start at it. Throws `CannotCopy` if the parameter sets change. */
  unitOf(packet: Packet): { readonly data: Uint8Array; readonly isIndependent: boolean } {
    if (packet.getSideData(AV_PKT_DATA_NEW_EXTRADATA)) throw new CannotCopy("its parameter sets change");
    // Decoders need the pictures that an edit list hides, but players of segments would show them.
    if (this.#isFirst && packet.hasFlags(AV_PKT_FLAG_DISCARD))
      throw new CannotCopy("an edit list hides its first pictures");
    this.#isFirst = false;
    const bytes = packet.data ?? Buffer.alloc(0);
    const data = this.#withLengths(bytes);
    const isIndependent = packet.isKeyframe && isIdrAccessUnit("avc", data);
    if (isIndependent) this.#checkSets(data);
    return { data, isIndependent };
  }

  #withLengths(bytes: Buffer): Uint8Array {
    if (this.#isAnnexB) return annexBToLengthPrefixed(bytes);
    if (this.#lengthSize === 4) return Uint8Array.from(bytes);
    return annexBToLengthPrefixed(lengthPrefixedToAnnexB(bytes, this.#lengthSize));
  }

  #checkSets(data: Uint8Array): void {
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    for (let at = 0; at + 4 < data.byteLength; ) {
      const length = view.getUint32(at);
      const unit = withoutZerosAtEnd(data.subarray(at + 4, at + 4 + length));
      const type = (unit[0] ?? 0) & 0x1f;
      const isSet = type === AVC_SPS || type === AVC_PPS;
      if (isSet && !this.#sets.some((known) => Buffer.compare(known, unit) === 0))
        throw new CannotCopy("its parameter sets change");
      at += 4 + length;
    }
  }
}

/** Trailing zeros belong to the byte stream that a NAL unit came from (ITU-T H.264 B.1.1); FFmpeg writes one into `avcC`. */
function withoutZerosAtEnd(unit: Uint8Array): Uint8Array {
  return unit.subarray(0, unit.findLastIndex((byte) => byte !== 0) + 1);
}
