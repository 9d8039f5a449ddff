/**
 * What flows through the media plane: encoded packets and the tracks they belong to.
 *
 * Ingest unwraps its protocol's clock at its edge and speaks 90 kHz ticks from there on, for audio too. So 32-bit milliseconds, 33-bit
 * PES clocks and RTP never get further than their own folder.
 */

import type { LinkMeasure, PublishProtocol, SrtMeasure } from "../ports/index.ts";

/** Ticks per second of the source clock and of video on the timeline. */
export const TICKS_PER_SECOND = 90_000;

/**
 * What every track has: its number among the tracks of its publication, which its packets and samples carry. Ingest gives it: 0 is the
 * video, 1 the first audio, and further tracks follow from 2 on in the order of the source. So the same number means the same track after a
 * reconnect, over another protocol too, and stages keep what they know of a track in an array.
 */
interface Numbered {
  readonly id: number;
}

export const VIDEO_TRACK = 0;
export const FIRST_AUDIO_TRACK = 1;

/** One H.264, HEVC or AV1 track. `config` is the body of `avcC`, `hvcC` or `av1C`; it changes only by announcing the track again. */
export interface VideoTrack extends Numbered {
  readonly kind: "video";
  readonly codec: "avc" | "hevc" | "av1";
  readonly config: Uint8Array;
  /** RFC 6381, for example `avc1.64001f`. */
  readonly codecString: string;
  readonly width: number;
  readonly height: number;
  /** Frames a second as the encoder declares them; absent where it does not. */
  readonly frameRate?: number;
  /** Bits per second that the encoder announces; absent where it does not. */
  readonly announcedBps?: number;
}

interface AudioShape extends Numbered {
  readonly kind: "audio";
  readonly config: Uint8Array;
  /** RFC 6381, for example `mp4a.40.2`. */
  readonly codecString: string;
  /** Samples per second of the coded frames. */
  readonly sampleRate: number;
  readonly channels: number;
  /** Bits per second that the encoder announces; absent where it does not. */
  readonly announcedBps?: number;
  /** ISO 639-2 code; absent where the source names none. */
  readonly language?: string;
}

/** One AAC track. `config` is the AudioSpecificConfig (ISO/IEC 14496-3). */
export interface AacTrack extends AudioShape {
  readonly codec: "aac";
  /** Samples per coded frame: 1024, or 960. */
  readonly frameSamples: number;
}

/** One Opus track of one or two channels, at 48 kHz. `config` is the body of `dOps`; each packet says how long it lasts. */
export interface OpusTrack extends AudioShape {
  readonly codec: "opus";
  /** The track that has the same sound as AAC, which every player of HLS takes. Then this one is for readers of the feed alone, is not packaged, and is announced first. */
  readonly sameAs?: Track["id"];
}

export type AudioTrack = AacTrack | OpusTrack;

export type Track = VideoTrack | AudioTrack;

/**
 * Bytes that several readers share. The memory is used again after the last release, so:
 *
 * - a packet brings one share along; a call that takes the packet takes the share over, until the timeline releases it behind the last reader;
 * - a reader that keeps the bytes beyond the call retains the payload first, and releases it when it is done;
 * - nobody writes into the bytes, and nobody reads them after its own release.
 *
 * The memory of a payload that is dropped without a release is garbage collected: that costs time, not memory.
 */
export class Payload {
  readonly bytes: Uint8Array;
  /** Of `bytes`, at hand: every reader counts it, and asking an array for it costs more than reading a field. */
  readonly byteLength: number;
  readonly #memory: PayloadMemory | null;
  #shares = 1;

  /** `memory` gets the bytes back; without it they are left to the garbage collector. */
  constructor(bytes: Uint8Array, memory: PayloadMemory | null = null) {
    this.bytes = bytes;
    this.byteLength = bytes.byteLength;
    this.#memory = memory;
  }

  retain(): void {
    this.#shares++;
  }

  release(): void {
    if (--this.#shares === 0) this.#memory?.release(this.bytes);
  }
}

export interface PayloadMemory {
  release(bytes: Uint8Array): void;
}

/**
 * One access unit or one audio frame on the source's own, already unwrapped clock.
 * Video data is length-prefixed (4 bytes) NAL units, or one AV1 temporal unit; audio data is one raw frame.
 */
export interface SourcePacket {
  readonly trackId: Track["id"];
  readonly kind: "video" | "audio";
  /** Decoding time in 90 kHz ticks of the source's clock; may jump, may run backwards. */
  readonly dts: number;
  /** Presentation time, same clock. For audio equal to `dts`. */
  readonly pts: number;
  /** True for an IDR picture only (open-GOP recovery points are not random access), and for every audio frame. */
  readonly isIndependent: boolean;
  readonly data: Payload;
}

/** Why a publication ended, as the lifecycle of a stream tells them apart. */
export type PublicationEnd = "clean-stop" | "source-lost";

/** The sink of an ingest: one publisher's place in the hub. All calls after `end`, or after the hub closed it, are ignored. */
export interface Publication {
  /** Announce a track, or a changed one. Announcing an identical one again is no change. */
  track(track: Track): void;
  packet(packet: SourcePacket): void;
  end(why: PublicationEnd, reason: string): void;
  /** How long the sender should be left unread, in ms; 0: it may send. To be asked after each packet, and again after such a wait. */
  readonly waitMs: number;
}

/** How the hub reaches back to a publisher: to take the stream over, to terminate it, to drain. */
export interface PublisherHandle {
  readonly protocol: PublishProtocol;
  /** Null where nothing was told since the last look; absent where the protocol tells nothing. */
  takeLink?(): LinkMeasure | SrtMeasure | null;
  /** A word for the state of the connection, where the protocol tells: metrics are reported at once when it changes. */
  readonly linkState?: string;
  /** Frames whose times were replaced, so far. Where it is told, the source's clock may change as often as it does. */
  readonly clockRepairs?: number | undefined;
  /** Tracks that the source has and that are not taken, as a sentence; null or absent where there are none. */
  readonly leftOut?: string | null | undefined;
  /** Close the connection; `reason` is a sentence that the person at the encoder may read. `mayReturn`: it should connect again by itself. */
  close(reason: string, mayReturn?: boolean): void;
}
