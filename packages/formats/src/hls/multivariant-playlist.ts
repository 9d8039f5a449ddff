import { PLAYLIST_VERSION } from "./media-playlist.ts";

export interface MultivariantPlaylist {
  /** Best first. Empty for an audio-only presentation. */
  readonly video: readonly VideoVariant[];
  readonly audio: AudioRendition | null;
  /** Values by DATA-ID, for players that know them (RFC 8216bis 4.4.6.4). */
  readonly sessionData?: Readonly<Record<string, string>>;
}

export interface VideoVariant {
  readonly uri: string;
  /** Bits per second, without the audio rendition. */
  readonly bandwidth: number;
  readonly averageBandwidth: number;
  readonly codecString: string;
  readonly width: number;
  readonly height: number;
  readonly frameRate: number | null;
  readonly range: "SDR" | "PQ" | "HLG";
  /** The playlist of its keyframes alone, with its rates in bits per second. */
  readonly iFrames?: { readonly uri: string; readonly bandwidth: number; readonly averageBandwidth: number };
}

export interface AudioRendition {
  readonly uri: string;
  readonly bandwidth: number;
  readonly averageBandwidth: number;
  readonly codecString: string;
  readonly channels: number;
}

const AUDIO_GROUP = "audio";

/** Writes an HLS multivariant playlist (RFC 8216bis 4.4.6): one audio rendition shared by all video variants, or audio alone. */
export function writeMultivariantPlaylist({ video, audio, sessionData = {} }: MultivariantPlaylist): string {
  let text = `#EXTM3U\n#EXT-X-VERSION:${PLAYLIST_VERSION}\n`;
  for (const [id, value] of Object.entries(sessionData))
    text += `#EXT-X-SESSION-DATA:DATA-ID="${id}",VALUE="${value}"\n`;
  if (audio && video.length === 0) {
    const rates = `BANDWIDTH=${audio.bandwidth},AVERAGE-BANDWIDTH=${audio.averageBandwidth}`;
    return `${text}#EXT-X-STREAM-INF:${rates},CODECS="${audio.codecString}"\n${audio.uri}\n`;
  }
  if (audio) {
    text += `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="${AUDIO_GROUP}",NAME="Audio",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="${audio.channels}",URI="${audio.uri}"\n`;
  }
  for (const variant of video) {
    const average = variant.averageBandwidth + (audio?.averageBandwidth ?? 0);
    text += `#EXT-X-STREAM-INF:BANDWIDTH=${variant.bandwidth + (audio?.bandwidth ?? 0)},AVERAGE-BANDWIDTH=${average}`;
    text += `,CODECS="${variant.codecString}${audio ? `,${audio.codecString}` : ""}",RESOLUTION=${variant.width}x${variant.height}`;
    if (variant.frameRate !== null) text += `,FRAME-RATE=${variant.frameRate.toFixed(3)}`;
    text += `,VIDEO-RANGE=${variant.range}`;
    if (audio) text += `,AUDIO="${AUDIO_GROUP}"`;
    text += `\n${variant.uri}\n`;
  }
  for (const { iFrames, codecString, width, height, range } of video) {
    if (!iFrames) continue;
    text += `#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=${iFrames.bandwidth},AVERAGE-BANDWIDTH=${iFrames.averageBandwidth}`;
    text += `,CODECS="${codecString}",RESOLUTION=${width}x${height},VIDEO-RANGE=${range},URI="${iFrames.uri}"\n`;
  }
  return text;
}
