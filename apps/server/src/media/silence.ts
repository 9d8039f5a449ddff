import { opusPacketSamples, SILENT_OPUS_PACKET, silentAacFrame } from "@weir/formats/codecs";
import { aacTrackOf } from "./described-track.ts";
import { type AudioTrack, Payload } from "./packet.ts";

/** A silent frame in the configuration of a track, and its duration. All sessions share its bytes. */
export interface Silence {
  readonly data: Payload;
  readonly samples: number;
}

/** The audio track for broadcasts without audio, since most platforms end a broadcast without it: AAC, stereo. */
// AudioSpecificConfig: AAC LC, 48 kHz, two channels.
export const SILENT_TRACK = aacTrackOf(Uint8Array.of(0x11, 0x90));

const OPUS: Silence = { data: new Payload(SILENT_OPUS_PACKET), samples: opusPacketSamples(SILENT_OPUS_PACKET) };
/** By the number of channels, of which there are at most 8. */
const AAC: Payload[] = [];

export function silenceOf(track: AudioTrack): Silence {
  if (track.codec === "opus") return OPUS;
  const { channels, frameSamples } = track;
  AAC[channels] ??= new Payload(silentAacFrame(channels));
  return { data: AAC[channels], samples: frameSamples };
}
