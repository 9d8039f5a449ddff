import { x264KeyframeInterval } from "@weir/formats/codecs";
import { type AudioTrack, type SourcePacket, TICKS_PER_SECOND, type Track, type VideoTrack } from "../packet.ts";
import { reorderTicks } from "./video-clock.ts";

const SECOND_TRACK_MS = 300;
const KEYFRAME_WAIT_MS = 4000;
/** Packets and bytes kept while waiting; the oldest go first. */
const MAX_PACKETS = 2000;
const MAX_BYTES = 16 * 1024 * 1024;
/** Clocks of two tracks further apart than this are taken as unrelated, and each is placed by its own first packet. */
const UNRELATED_TICKS = 5 * TICKS_PER_SECOND;

export interface Tracks {
  video: VideoTrack | null;
  audio: AudioTrack | null;
}

/** Where a stretch begins in the source's clock, and what is already there. */
export interface Opening {
  readonly tracks: readonly Track[];
  /** Source time of T = start, per track; the same for both unless their clocks have nothing to do with each other. */
  readonly videoBase: number;
  readonly audioBase: number;
  /** How long the first picture is shown after it is decoded. */
  readonly reorderTicks: number;
  /** The longest way between two keyframes, as the encoder wrote it into its first picture; null where it did not. */
  readonly encoderGopSeconds: number | null;
  readonly packets: readonly SourcePacket[];
  /** Monotonic arrival of the first packet kept. */
  readonly arrivedAt: number;
}

interface Arrival {
  readonly packet: SourcePacket;
  readonly at: number;
}

/**
 * Collects the first packets of a stretch until it is clear where it begins: at the first IDR, once the second track is there or 300 ms
 * have passed; at the first audio frame where there is no video, or none with a keyframe within 4 s.
 */
export class StretchOpening {
  readonly #arrivals: Arrival[] = [];
  #bytes = 0;
  #firstIdr: Arrival | null = null;
  #firstAudio: Arrival | null = null;

  add(packet: SourcePacket, at: number): void {
    if (packet.kind === "video" && !this.#firstIdr && !packet.isIndependent) return;
    const arrival = { packet, at };
    this.#arrivals.push(arrival);
    this.#bytes += packet.data.byteLength;
    if (packet.kind === "video") this.#firstIdr ??= arrival;
    else this.#firstAudio ??= arrival;
    if (this.#arrivals.length > MAX_PACKETS || this.#bytes > MAX_BYTES) this.#forgetOldest();
  }

  /** The opening, once it is decided; null while it is not. */
  ready(tracks: Tracks, now: number): Opening | null {
    const idr = tracks.video ? this.#firstIdr : null;
    if (idr) {
      if (!tracks.audio && now - idr.at < SECOND_TRACK_MS) return null;
      return this.#openAt(idr, tracks);
    }
    const audio = tracks.audio ? this.#firstAudio : null;
    if (!audio) return null;
    if (now - audio.at < (tracks.video ? KEYFRAME_WAIT_MS : SECOND_TRACK_MS)) return null;
    return this.#openAt(audio, { video: null, audio: tracks.audio });
  }

  #openAt(first: Arrival, { video, audio }: Tracks): Opening {
    const reordered = reorderTicks(first.packet);
    const base = first.packet.dts + reordered;
    const audioFirst = this.#firstAudio?.packet.pts;
    const audioBase = audioFirst === undefined || Math.abs(audioFirst - base) < UNRELATED_TICKS ? base : audioFirst;
    const firstIndex = this.#arrivals.indexOf(first);
    const belongs = ({ packet }: Arrival, index: number): boolean =>
      packet.kind === "video" ? video !== null && index >= firstIndex : audio !== null && packet.pts >= audioBase;
    return {
      tracks: [...(video ? [video] : []), ...(audio ? [audio] : [])],
      videoBase: base,
      audioBase,
      reorderTicks: reordered,
      encoderGopSeconds: video ? encoderGopSeconds(video, first.packet) : null,
      packets: this.#arrivals.filter(belongs).map(({ packet }) => packet),
      arrivedAt: first.at,
    };
  }

  #forgetOldest(): void {
    const dropped = this.#arrivals.shift();
    if (!dropped) return;
    this.#bytes -= dropped.packet.data.byteLength;
    // The keyframe itself does not fit: wait for the next one.
    if (dropped === this.#firstIdr)
      this.#firstIdr = this.#arrivals.find((a) => a.packet.kind === "video" && a.packet.isIndependent) ?? null;
    if (dropped === this.#firstAudio) this.#firstAudio = this.#arrivals.find((a) => a.packet.kind === "audio") ?? null;
  }
}

function encoderGopSeconds({ codec, frameRate }: VideoTrack, { data }: SourcePacket): number | null {
  if (codec !== "avc" || frameRate === undefined) return null;
  const frames = x264KeyframeInterval(data.bytes);
  return frames === null ? null : frames / frameRate;
}
