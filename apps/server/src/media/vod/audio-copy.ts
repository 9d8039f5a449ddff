import { aacTrackOf } from "../described-track.ts";
import type { AacTrack } from "../packet.ts";
import type { SourceTrack } from "./source-file.ts";

const ADTS_HEADER = 7;
const ADTS_WITH_CHECKSUM = 9;
/** More channels are downmixed. */
const MAX_CHANNELS = 2;

/** Audio that players can play unchanged: AAC with one or two channels. */
export class AudioCopy {
  readonly track: AacTrack;
  readonly #hasHeaders: boolean;

  private constructor(track: AacTrack, hasHeaders: boolean) {
    this.track = track;
    this.#hasHeaders = hasHeaders;
  }

  /** `first` is the track's first packet. Null if the audio must be re-encoded. */
  static of({ stream, codec }: SourceTrack, first: Uint8Array): AudioCopy | null {
    if (codec !== "aac") return null;
    const { extradata } = stream.codecpar;
    const config = extradata && extradata.byteLength >= 2 ? Buffer.from(extradata) : configOfHeader(first);
    if (!config) return null;
    try {
      const track = aacTrackOf(config);
      if (track.channels > MAX_CHANNELS || track.frameSamples !== 1024) return null;
      return new AudioCopy(track, !extradata || extradata.byteLength < 2);
    } catch {
      return null;
    }
  }

  /** The AAC frame without its ADTS header. */
  frameOf(packet: Uint8Array): Uint8Array {
    if (!this.#hasHeaders) return Uint8Array.from(packet);
    const hasChecksum = ((packet[1] ?? 0) & 1) === 0;
    return packet.slice(hasChecksum ? ADTS_WITH_CHECKSUM : ADTS_HEADER);
  }
}

/** The AudioSpecificConfig equivalent to a frame's ADTS header (ISO/IEC 14496-3 1.A.3.2). */
function configOfHeader(frame: Uint8Array): Buffer | null {
  const [sync = 0, marker = 0, shape = 0, channels = 0] = frame;
  if (frame.byteLength < ADTS_HEADER || sync !== 0xff || (marker & 0xf6) !== 0xf0) return null;
  const objectType = (shape >> 6) + 1;
  const rate = (shape >> 2) & 15;
  const channelConfiguration = ((shape & 1) << 2) | (channels >> 6);
  const bits = (objectType << 11) | (rate << 7) | (channelConfiguration << 3);
  return Buffer.of(bits >> 8, bits & 255);
}
