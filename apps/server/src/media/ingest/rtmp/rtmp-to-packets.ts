import { FormatError } from "@weir/formats/bits";
import {
  annexBToLengthPrefixed,
  describeAv1,
  describeAvc,
  describeHevc,
  isIdrAccessUnit,
  lengthPrefixedToAnnexB,
  type VideoDescription,
} from "@weir/formats/codecs";
import { readAudioTag, readVideoTag } from "@weir/formats/flv";
import { type AmfObject, type AmfValue, readMetadata } from "@weir/formats/rtmp";
import { aacTrackOf, videoTrackOf } from "../../described-track.ts";
import {
  FIRST_AUDIO_TRACK,
  Payload,
  type PayloadMemory,
  type Publication,
  VIDEO_TRACK,
  type VideoTrack,
} from "../../packet.ts";
import { UnsupportedCodec } from "../publish-refusals.ts";
import { RtmpClock } from "./rtmp-clock.ts";

const TICKS_PER_MS = 90;
const NAL_LENGTH_SIZE = 4;
/** Typical metadata has a few hundred bytes. */
const MAX_METADATA_BYTES = 16 * 1024;
/** Announced bitrates outside this range are ignored: some encoders send 0, or bits instead of kbit. */
const ANNOUNCED_BPS = { least: 8_000, most: 100_000_000 };

interface VideoCodec {
  readonly codec: VideoTrack["codec"];
  readonly describe: (config: Uint8Array) => VideoDescription;
}

const VIDEO_CODECS: Readonly<Record<string, VideoCodec>> = {
  avc1: { codec: "avc", describe: describeAvc },
  hvc1: { codec: "hevc", describe: describeHevc },
  av01: { codec: "av1", describe: describeAv1 },
};

const NAMES: Readonly<Record<string, string>> = {
  vp08: "VP8",
  vp09: "VP9",
  "flv-2": "Sorenson H.263",
  "flv-4": "VP6",
  Opus: "Opus",
};

/** Converts a publisher's audio and video messages to tracks and packets of its publication. */
export class RtmpToPackets {
  readonly #publication: Pick<Publication, "track" | "packet">;
  readonly #memory: PayloadMemory;
  readonly #clock = new RtmpClock();
  #video: VideoCodec["codec"] | null = null;
  #nalLengthSize = NAL_LENGTH_SIZE;
  #hasAudio = false;
  #announced: Announced = {};

  /** `memory` is where the messages were allocated. */
  constructor(publication: Pick<Publication, "track" | "packet">, memory: PayloadMemory) {
    this.#publication = publication;
    this.#memory = memory;
  }

  /** Handles the encoder's metadata, which precedes its tracks. Never throws, since metadata is optional. */
  data(payload: Uint8Array): void {
    const said = payload.byteLength > MAX_METADATA_BYTES ? null : metadataOf(payload);
    if (said) this.#announced = { video: bpsOf(said.videodatarate), audio: bpsOf(said.audiodatarate) };
  }

  /** Returns true for a frame. Throws `UnsupportedCodec` and `FormatError`. */
  video(timestamp: number, payload: Uint8Array): boolean {
    if (payload.byteLength === 0) return false;
    const tag = readVideoTag(payload);
    if (tag.content === "other") {
      if (tag.codec.startsWith("flv-")) throw unsupported("video", tag.codec, "Set the encoder to H.264, HEVC or AV1.");
      return false;
    }
    const known = VIDEO_CODECS[tag.codec];
    if (!known) throw unsupported("video", tag.codec, "Set the encoder to H.264, HEVC or AV1.");
    const data = payload.subarray(tag.dataOffset, tag.dataEnd);
    if (tag.content === "config") {
      this.#videoConfig(known, data);
      return false;
    }
    if (this.#video !== known.codec || data.byteLength === 0) return false;
    const units =
      this.#nalLengthSize === NAL_LENGTH_SIZE
        ? data
        : annexBToLengthPrefixed(lengthPrefixedToAnnexB(data, this.#nalLengthSize));
    const time = this.#clock.unwrap(timestamp);
    this.#publication.packet({
      trackId: VIDEO_TRACK,
      kind: "video",
      dts: time * TICKS_PER_MS,
      pts: (time + tag.compositionTime) * TICKS_PER_MS,
      isIndependent: tag.isKeyframe && isIdrAccessUnit(known.codec, units),
      data: new Payload(units, this.#memory),
    });
    return true;
  }

  /** Throws `UnsupportedCodec` and `FormatError`. */
  audio(timestamp: number, payload: Uint8Array): void {
    if (payload.byteLength === 0) return;
    const tag = readAudioTag(payload);
    if (tag.codec !== "mp4a") {
      if (tag.content === "other") return;
      throw unsupported("audio", tag.codec, "Set the encoder to AAC.");
    }
    const data = payload.subarray(tag.dataOffset);
    if (tag.content === "config") return this.#audioConfig(data);
    if (tag.content !== "frame" || !this.#hasAudio || data.byteLength === 0) return;
    const time = this.#clock.unwrap(timestamp) * TICKS_PER_MS;
    this.#publication.packet({
      trackId: FIRST_AUDIO_TRACK,
      kind: "audio",
      dts: time,
      pts: time,
      isIndependent: true,
      data: new Payload(data, this.#memory),
    });
  }

  #videoConfig({ codec, describe }: VideoCodec, sent: Uint8Array): void {
    if (sent.byteLength === 0) return;
    const { nalLengthSize } = describe(sent);
    const config = sent.slice();
    // Packets have 4-byte lengths from here on, which avcC declares in byte 4 and hvcC in byte 21 (ISO/IEC 14496-15 5.3.3.1, 8.3.3.1).
    this.#nalLengthSize = codec === "av1" ? NAL_LENGTH_SIZE : nalLengthSize;
    const at = codec === "avc" ? 4 : 21;
    if (this.#nalLengthSize !== NAL_LENGTH_SIZE) config[at] = (config[at] ?? 0) | 3;
    this.#video = codec;
    this.#publication.track({ ...videoTrackOf(codec, config), ...announced(this.#announced.video) });
  }

  #audioConfig(sent: Uint8Array): void {
    if (sent.byteLength === 0) return;
    const track = aacTrackOf(sent.slice());
    if (track.channels < 1) throw new FormatError("an AAC configuration with at least one channel", 0);
    this.#hasAudio = true;
    this.#publication.track({ ...track, ...announced(this.#announced.audio) });
  }
}

interface Announced {
  readonly video?: number | undefined;
  readonly audio?: number | undefined;
}

const announced = (announcedBps: number | undefined) => (announcedBps === undefined ? {} : { announcedBps });

function metadataOf(payload: Uint8Array): AmfObject | null {
  try {
    return readMetadata(payload);
  } catch (error) {
    if (error instanceof FormatError) return null;
    throw error;
  }
}

/** Converts a bitrate in kbit/s; undefined if missing or implausible. */
function bpsOf(kilobits: AmfValue): number | undefined {
  if (typeof kilobits !== "number") return undefined;
  const bps = Math.round(kilobits * 1000);
  return bps >= ANNOUNCED_BPS.least && bps <= ANNOUNCED_BPS.most ? bps : undefined;
}

function unsupported(kind: "video" | "audio", codec: string, remedy: string): UnsupportedCodec {
  return new UnsupportedCodec(`This server does not support ${NAMES[codec] ?? codec} ${kind}. ${remedy}`);
}
