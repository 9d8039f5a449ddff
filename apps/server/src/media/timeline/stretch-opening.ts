import { x264KeyframeInterval } from "@weir/formats/codecs";
import { type AudioTrack, type SourcePacket, TICKS_PER_SECOND, type Track, type VideoTrack } from "../packet.ts";
import { reorderTicks } from "./video-clock.ts";

const SECOND_TRACK_MS = 300;
const KEYFRAME_WAIT_MS = 4000;
/** Limits of the packets that are buffered; the oldest are dropped first. */
const MAX_PACKETS = 2000;
const MAX_BYTES = 16 * 1024 * 1024;
/** Tracks whose clocks differ by more are considered unrelated; each is then placed by its own first packet. */
const UNRELATED_TICKS = 5 * TICKS_PER_SECOND;

/** Start of a stretch in the source's clock, and its packets received so far. */
export interface Opening {
  /** Ordered by id. */
  readonly tracks: readonly Track[];
  /** Source time of the stretch's start, for each of `tracks` by id. The same for all, unless their clocks are unrelated. */
  readonly bases: ReadonlyMap<Track["id"], number>;
  /** The same of the track that begins the stretch, for tracks that the source does not announce. */
  readonly base: number;
  /** Delay from decoding to presentation of the first picture. */
  readonly reorderTicks: number;
  /** The maximum keyframe interval that the encoder declares in its first picture; null if it declares none. */
  readonly encoderGopSeconds: number | null;
  readonly packets: readonly SourcePacket[];
  /** Monotonic arrival time of the first packet. */
  readonly arrivedAt: number;
}

interface Arrival {
  readonly packet: SourcePacket;
  readonly at: number;
}

/**
 * Buffers the first packets of a stretch until its start is decided: at the first IDR, once the audio track is announced or 300 ms have passed; at
 * the first audio frame, if there is no video or no keyframe within 4 s.
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

  /** The opening once decided; null until then. */
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
      base,
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
    // The keyframe itself exceeds the limits: wait for the next one.
    if (dropped === this.#firstIdr)
      this.#firstIdr = this.#arrivals.find((a) => a.packet.kind === "video" && a.packet.isIndependent) ?? null;
    const { trackId } = dropped.packet;
    if (dropped !== this.#firstAudio.get(trackId)) return;
    const next = this.#arrivals.find(({ packet }) => packet.trackId === trackId);
    if (next) this.#firstAudio.set(trackId, next);
    else this.#firstAudio.delete(trackId);
  }
}

/** A second encoding of an audio track is announced before the first one; waiting for both lets them start in one stretch. */
function isAhead(track: Track, announced: ReadonlyMap<Track["id"], Track>): boolean {
  return track.codec === "opus" && track.sameAs !== undefined && !announced.has(track.sameAs);
}

function encoderGopSeconds({ codec, frameRate }: VideoTrack, { data }: SourcePacket): number | null {
  if (codec !== "avc" || frameRate === undefined) return null;
  const frames = x264KeyframeInterval(data.bytes);
  return frames === null ? null : frames / frameRate;
}
