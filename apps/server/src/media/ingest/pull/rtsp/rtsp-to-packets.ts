import { avcReorderFrames, hevcReorderFrames, lengthPrefixed, lengthPrefixedToAnnexB } from "@weir/formats/codecs";
import {
  AacDepacketizer,
  DecodeTimes,
  H264Depacketizer,
  HevcDepacketizer,
  type RtpPicture,
  readRtcp,
  readRtpPacket,
} from "@weir/formats/rtp";
import { PictureReader } from "@weir/formats/ts";
import { aacTrackOf, videoTrackOf } from "../../../described-track.ts";
import { FIRST_AUDIO_TRACK, Payload, type Publication, TICKS_PER_SECOND, VIDEO_TRACK } from "../../../packet.ts";
import { PublishClock } from "../../../webrtc/index.ts";
import { AwaitedPicture } from "../../awaited-picture.ts";
import { ConvertedSound } from "../../converted-sound.ts";
import { leftOutSentence } from "../../left-out.ts";
import type { TsToPacketsSettings } from "../../ts/ts-to-packets.ts";
import type { SourceReader } from "../source-reader.ts";
import type { RtspPiece } from "./rtsp-source.ts";
import type { RtspAac, RtspSound, RtspVideo } from "./rtsp-tracks.ts";

type Kind = "video" | "audio";
type Sink = Pick<Publication, "track" | "packet">;

/** Converts the RTP of a camera to tracks and packets of a publication. */
export class RtspToPackets implements SourceReader<RtspPiece> {
  readonly #sink: Sink;
  readonly #settings: TsToPacketsSettings;
  readonly #last: Record<Kind, { sequence: number | null; payloadType: number }> = {
    video: { sequence: null, payloadType: -1 },
    audio: { sequence: null, payloadType: -1 },
  };
  readonly #picture = new AwaitedPicture();
  #clock = new PublishClock();
  #video: H264Depacketizer | HevcDepacketizer | null = null;
  #audio: ((packet: NonNullable<ReturnType<typeof readRtpPacket>>, isAfterGap: boolean) => void) | null = null;
  #sound: ConvertedSound | null = null;
  #hasTrack = false;
  #leftOut: string | null = null;

  constructor(sink: Sink, settings: TsToPacketsSettings) {
    this.#sink = sink;
    this.#settings = settings;
  }

  get missing(): string | null {
    if (this.#hasTrack) return null;
    return "The source has sent no keyframe with parameter sets. Set the keyframe interval of the camera to 2 s.";
  }

  get leftOut(): string | null {
    return this.#leftOut;
  }

  push(piece: RtspPiece): void {
    if (piece.type === "tracks") {
      const { tracks, leftOut, starts } = piece;
      this.#leftOut = leftOutSentence(leftOut);
      const audio = tracks.find((track) => track.kind === "audio");
      this.#clock = new PublishClock(audio?.clockRate);
      for (const track of tracks) {
        this.#last[track.kind].payloadType = track.payloadType;
        if (track.kind === "video") this.#picture.announced();
        if (track.kind === "video") this.#openVideo(track);
        else if (track.codec === "aac") this.#openAac(track);
        else this.#openSound(track);
      }
      for (const { kind, timestamp } of starts) this.#clock.report(kind, timestamp, 0);
    } else if (piece.type === "reports") {
      for (const report of readRtcp(piece.bytes))
        if (report.type === "sender-report") this.#clock.report(piece.kind, report.timestamp, report.sentAtMs);
    } else this.#packet(piece.kind, piece.bytes);
  }

  end(): void {}

  close(): void {
    this.#sound?.close();
    this.#sound = null;
  }

  #packet(kind: Kind, bytes: Uint8Array): void {
    const packet = readRtpPacket(bytes);
    const last = this.#last[kind];
    if (!packet || packet.payloadType !== last.payloadType) return;
    const isAfterGap = last.sequence !== null && packet.sequence !== ((last.sequence + 1) & 0xffff);
    last.sequence = packet.sequence;
    if (kind === "video") this.#video?.push(packet, isAfterGap);
    else this.#audio?.(packet, isAfterGap);
  }

  #timeOf(kind: Kind, timestamp: number): number {
    return this.#clock.timeOf(kind, timestamp, this.#settings.clock.monotonic());
  }

  #openVideo({ codec, sets }: RtspVideo): void {
    const { memory } = this.#settings;
    const times = new DecodeTimes();
    const pictures = new PictureReader(
      codec,
      (bytes) => memory.allocate(bytes),
      (config) => {
        const track = videoTrackOf(codec, config);
        times.configure((codec === "avc" ? avcReorderFrames : hevcReorderFrames)(config), track.frameRate ?? null);
        this.#hasTrack = true;
        this.#sink.track(track);
      },
    );
    const read = ({ timestamp, data, isDamaged }: RtpPicture): void => {
      const picture = isDamaged ? null : pictures.read(lengthPrefixedToAnnexB(data));
      if (!picture) return;
      const { isIndependent } = picture;
      const pts = this.#timeOf("video", timestamp);
      const dts = times.next(pts, isIndependent);
      if (dts === null) return memory.release(picture.data);
      this.#picture.settled();
      const packet = { trackId: VIDEO_TRACK, kind: "video", dts, pts, isIndependent } as const;
      this.#sink.packet({ ...packet, data: new Payload(picture.data, memory) });
    };
    if (sets.length > 0) pictures.read(lengthPrefixedToAnnexB(lengthPrefixed(sets)));
    this.#video = codec === "avc" ? new H264Depacketizer(read) : new HevcDepacketizer(read);
  }

  #openAac({ config, clockRate, packing }: RtspAac): void {
    const { memory } = this.#settings;
    const track = aacTrackOf(config.slice());
    this.#hasTrack = true;
    this.#sink.track(track);
    const frameTicks = (track.frameSamples * TICKS_PER_SECOND) / (track.sampleRate || clockRate);
    const frames = new AacDepacketizer(packing, ({ timestamp, index, data }) => {
      const pts = Math.round(this.#timeOf("audio", timestamp) + index * frameTicks);
      if (this.#picture.leavesOut(pts)) return;
      const bytes = memory.allocate(data.length);
      bytes.set(data);
      const packet = { trackId: FIRST_AUDIO_TRACK, kind: "audio", dts: pts, pts, isIndependent: true } as const;
      this.#sink.packet({ ...packet, data: new Payload(bytes, memory) });
    });
    this.#audio = (packet, isAfterGap) => frames.push(packet, isAfterGap);
  }

  #openSound({ codec, clockRate, channels }: RtspSound): void {
    const sound = new ConvertedSound(
      this.#sink,
      { codec, config: "", sampleRate: clockRate, channels },
      this.#settings,
    );
    this.#sound = sound;
    this.#hasTrack = true;
    this.#audio = ({ timestamp, payload }) => {
      const pts = this.#timeOf("audio", timestamp);
      if (payload.length > 0 && !this.#picture.leavesOut(pts)) sound.push(pts, payload);
    };
  }
}
