import {
  annexBToLengthPrefixed,
  describeAac,
  describeAv1,
  describeAvc,
  describeHevc,
  isIdrAccessUnit,
  lengthPrefixedToAnnexB,
} from "@weir/formats/codecs";
import type { Mp4Frame, SourceFormat } from "@weir/formats/mp4";
import { aacTrackOf, videoTrackOf } from "../../../described-track.ts";
import { FIRST_AUDIO_TRACK, Payload, type Publication, VIDEO_TRACK } from "../../../packet.ts";
import { ConvertedSound } from "../../converted-sound.ts";
import { type LeftOut, leftOutSentence, NOTHING_LEFT_OUT } from "../../left-out.ts";
import { UnsupportedCodec } from "../../publish-refusals.ts";
import { TsToPackets, type TsToPacketsSettings } from "../../ts/ts-to-packets.ts";
import type { SourceReader } from "../source-reader.ts";
import type { HttpPiece, PieceOf } from "./http-piece.ts";

type Sink = Pick<Publication, "track" | "packet">;

const NAL_LENGTH_SIZE = 4;
/** Edit lists place a first frame before 0. */
const SHIFT_TICKS = 90_000;
const MAX_OPUS_CHANNELS = 2;
const REMEDY = { video: "Use H.264, HEVC or AV1.", audio: "Use AAC, Opus or AC-3." };

/** Makes packets of what a source over HTTP sends. */
export class HttpReader implements SourceReader<HttpPiece> {
  readonly #sink: Sink;
  readonly #settings: TsToPacketsSettings;
  readonly #streams = new Map<PieceOf, TsToPackets>();
  #mp4: Mp4ToPackets | null = null;
  #others = NOTHING_LEFT_OUT;
  #leftOut: string | null = null;

  constructor(sink: Sink, settings: TsToPacketsSettings) {
    this.#sink = sink;
    this.#settings = settings;
  }

  get missing(): string | null {
    const all = [...(this.#mp4 ? [this.#mp4.missing] : []), ...[...this.#streams.values()].map((one) => one.missing)];
    return all.length === 0 ? "The source has sent no media yet." : all.includes(null) ? null : (all[0] ?? null);
  }

  get leftOut(): string | null {
    for (const stream of this.#streams.values()) if (stream.leftOut !== null) return stream.leftOut;
    return this.#leftOut;
  }

  push(piece: HttpPiece): void {
    if (piece.type === "others") return this.#leaveOut(piece.leftOut);
    if (piece.type === "ts") return this.#streamOf(piece.of).push(piece.bytes);
    this.#mp4 ??= new Mp4ToPackets(this.#sink, this.#settings);
    if (piece.type === "track") this.#mp4.track(piece.format);
    else this.#mp4.frame(piece.frame);
  }

  end(): void {
    for (const stream of this.#streams.values()) stream.end();
  }

  close(): void {
    for (const stream of this.#streams.values()) stream.close();
    this.#mp4?.close();
  }

  /** A playlist and its segments may both say it. */
  #leaveOut({ video = 0, audio = 0, captions = 0 }: Partial<LeftOut>): void {
    const most = this.#others;
    this.#others = {
      video: Math.max(most.video, video),
      audio: Math.max(most.audio, audio),
      captions: Math.max(most.captions, captions),
    };
    this.#leftOut = leftOutSentence(this.#others);
  }

  #streamOf(of: PieceOf): TsToPackets {
    const known = this.#streams.get(of);
    if (known) return known;
    const sink: Sink = {
      track: (track) => {
        if (of === "both" || track.kind === of) this.#sink.track(track);
      },
      packet: (packet) => {
        if (of === "both" || packet.kind === of) this.#sink.packet(packet);
        else packet.data.release();
      },
    };
    const stream = new TsToPackets(sink, this.#settings);
    this.#streams.set(of, stream);
    return stream;
  }
}

/** Makes packets of the frames of MP4. */
class Mp4ToPackets {
  readonly #sink: Sink;
  readonly #settings: TsToPacketsSettings;
  #video: { readonly codec: "avc" | "hevc" | "av1"; readonly lengthSize: number } | null = null;
  #sound: ConvertedSound | null = null;
  /** Of the sound that is converted; of AAC none. */
  #converted: string | null = null;
  #hasTrack = false;

  constructor(sink: Sink, settings: TsToPacketsSettings) {
    this.#sink = sink;
    this.#settings = settings;
  }

  get missing(): string | null {
    return this.#hasTrack ? null : "The source's MP4 has no track of video or audio.";
  }

  /** Throws `UnsupportedCodec` and `FormatError`. */
  track(format: SourceFormat): void {
    if (format.codec === null)
      throw new UnsupportedCodec(`This server does not support ${format.name} ${format.kind}. ${REMEDY[format.kind]}`);
    this.#hasTrack = true;
    if (format.kind === "video") this.#videoTrack(format);
    else if (format.codec === "aac") {
      this.#closeSound();
      describeAac(format.config);
      this.#sink.track(aacTrackOf(format.config));
    } else this.#convert(format);
  }

  frame({ kind, decode, presentation, isSync, data }: Mp4Frame): void {
    const { memory } = this.#settings;
    const [dts, pts] = [decode + SHIFT_TICKS, presentation + SHIFT_TICKS];
    if (kind === "audio") {
      if (!this.#sound) {
        const packet = { trackId: FIRST_AUDIO_TRACK, kind, dts: pts, pts, isIndependent: true } as const;
        return this.#sink.packet({ ...packet, data: new Payload(data, memory) });
      }
      this.#sound.push(pts, data);
      // Readers of the feed keep Opus: it is left to the garbage collector.
      if (this.#converted !== "opus") memory.release(data);
      return;
    }
    if (!this.#video) return memory.release(data);
    const { codec, lengthSize } = this.#video;
    const units =
      codec === "av1" || lengthSize === NAL_LENGTH_SIZE
        ? data
        : annexBToLengthPrefixed(lengthPrefixedToAnnexB(data, lengthSize));
    const isIndependent = isSync && isIdrAccessUnit(codec, units);
    this.#sink.packet({ trackId: VIDEO_TRACK, kind, dts, pts, isIndependent, data: new Payload(units, memory) });
  }

  close(): void {
    this.#closeSound();
  }

  #videoTrack({ codec, config }: SourceFormat & { codec: "avc" | "hevc" | "av1" }): void {
    const { nalLengthSize } = { avc: describeAvc, hevc: describeHevc, av1: describeAv1 }[codec](config);
    this.#video = { codec, lengthSize: nalLengthSize };
    // Packets have 4-byte lengths from here on, which avcC declares in byte 4 and hvcC in byte 21 (ISO/IEC 14496-15 5.3.3.1, 8.3.3.1).
    const at = codec === "avc" ? 4 : 21;
    if (codec !== "av1") config[at] = (config[at] ?? 0) | 3;
    this.#sink.track(videoTrackOf(codec, config));
  }

  #convert({ codec, channels, sampleRate }: SourceFormat & { codec: "opus" | "ac3" | "eac3" }): void {
    if (codec === "opus" && channels > MAX_OPUS_CHANNELS)
      throw new UnsupportedCodec(`This server does not support Opus with ${channels} channels. ${REMEDY.audio}`);
    if (this.#converted === codec) return;
    this.#closeSound();
    this.#converted = codec;
    const source = { codec, config: "", sampleRate, channels: channels || 2 };
    this.#sound = new ConvertedSound(this.#sink, source, this.#settings);
  }

  #closeSound(): void {
    this.#sound?.close();
    this.#sound = null;
    this.#converted = null;
  }
}
