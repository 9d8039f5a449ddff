import { opusPacketSamples, SILENT_OPUS_PACKET, silentAacFrame } from "@weir/formats/codecs";
import { type AudioTrack, Payload } from "./packet.ts";

/** A silent frame in the configuration of a track, and its duration. All sessions share its bytes. */
export interface Silence {
  readonly data: Payload;
  readonly samples: number;
}

const OPUS: Silence = { data: new Payload(SILENT_OPUS_PACKET), samples: opusPacketSamples(SILENT_OPUS_PACKET) };
/** By the number of channels, of which there are at most 8. */
const AAC: Payload[] = [];

export function silenceOf(track: AudioTrack): Silence {
  if (track.codec === "opus") return OPUS;
  const { channels, frameSamples } = track;
  AAC[channels] ??= new Payload(silentAacFrame(channels));
  return { data: AAC[channels], samples: frameSamples };
}
