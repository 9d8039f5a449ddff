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

/** Where a stretch begins in the source's clock, and what is already there. */
export interface Opening {
  /** In the order of their ids. */
  readonly tracks: readonly Track[];
  /** Source time of T = start, for each of `tracks` by its id; the same for all unless their clocks have nothing to do with each other. */
  readonly bases: ReadonlyMap<Track["id"], number>;
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
  /** The first frame of each audio track, by track id. */
  readonly #firstAudio = new Map<Track["id"], Arrival>();

  add(packet: SourcePacket, at: number): void {
    if (packet.kind === "video" && !this.#firstIdr && !packet.isIndependent) return;
    const arrival = { packet, at };
    this.#arrivals.push(arrival);
    this.#bytes += packet.data.byteLength;
    if (packet.kind === "video") this.#firstIdr ??= arrival;
    else if (!this.#firstAudio.has(packet.trackId)) this.#firstAudio.set(packet.trackId, arrival);
    if (this.#arrivals.length > MAX_PACKETS || this.#bytes > MAX_BYTES) this.#forgetOldest();
  }

  /** The opening, once it is decided; null while it is not. */
  ready(announced: ReadonlyMap<Track["id"], Track>, now: number): Opening | null {
    const tracks = [...announced.values()].filter((track) => !isAhead(track, announced)).sort((a, b) => a.id - b.id);
    const video = tracks.find((track) => track.kind === "video") ?? null;
    const audio = tracks.filter((track) => track.kind === "audio");
    const idr = video ? this.#firstIdr : null;
    if (idr) {
      if (audio.length === 0 && now - idr.at < SECOND_TRACK_MS) return null;
      return this.#openAt(idr, video, audio);
    }
    const first = this.#firstOf(audio);
    if (!first) return null;
    if (now - first.at < (video ? KEYFRAME_WAIT_MS : SECOND_TRACK_MS)) return null;
    return this.#openAt(first, null, audio);
  }

  /** The first frame of the first audio track that has one. */
  #firstOf(audio: readonly AudioTrack[]): Arrival | null {
    for (const { id } of audio) {
      const first = this.#firstAudio.get(id);
      if (first) return first;
    }
    return null;
  }

  #openAt(first: Arrival, video: VideoTrack | null, audio: readonly AudioTrack[]): Opening {
    const reordered = reorderTicks(first.packet);
    const base = first.packet.dts + reordered;
    const tracks = [...(video ? [video] : []), ...audio];
    const bases = new Map(tracks.map(({ id }) => [id, this.#baseOf(id, base)]));
    const firstIndex = this.#arrivals.indexOf(first);
    const belongs = ({ packet }: Arrival, index: number): boolean => {
      const start = bases.get(packet.trackId);
      if (start === undefined) return false;
      return packet.kind === "video" ? index >= firstIndex : packet.pts >= start;
    };
    return {
      tracks,
      bases,
      reorderTicks: reordered,
      encoderGopSeconds: video ? encoderGopSeconds(video, first.packet) : null,
      packets: this.#arrivals.filter(belongs).map(({ packet }) => packet),
      arrivedAt: first.at,
    };
  }

  #baseOf(trackId: Track["id"], base: number): number {
    const first = this.#firstAudio.get(trackId)?.packet.pts;
    return first === undefined || Math.abs(first - base) < UNRELATED_TICKS ? base : first;
  }

  #forgetOldest(): void {
    const dropped = this.#arrivals.shift();
    if (!dropped) return;
    this.#bytes -= dropped.packet.data.byteLength;
    // The keyframe itself does not fit: wait for the next one.
    if (dropped === this.#firstIdr)
      this.#firstIdr = this.#arrivals.find((a) => a.packet.kind === "video" && a.packet.isIndependent) ?? null;
    const { trackId } = dropped.packet;
    if (dropped !== this.#firstAudio.get(trackId)) return;
    const next = this.#arrivals.find(({ packet }) => packet.trackId === trackId);
    if (next) this.#firstAudio.set(trackId, next);
    else this.#firstAudio.delete(trackId);
  }
}

/** A sound in a second codec is announced in front of the first one, so that both begin in one stretch. */
function isAhead(track: Track, announced: ReadonlyMap<Track["id"], Track>): boolean {
  return track.codec === "opus" && track.sameAs !== undefined && !announced.has(track.sameAs);
}

function encoderGopSeconds({ codec, frameRate }: VideoTrack, { data }: SourcePacket): number | null {
  if (codec !== "avc" || frameRate === undefined) return null;
  const frames = x264KeyframeInterval(data.bytes);
  return frames === null ? null : frames / frameRate;
}
