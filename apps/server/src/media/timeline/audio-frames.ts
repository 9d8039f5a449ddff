import { opusPacketSamples, SILENT_OPUS_PACKET, silentAacFrame } from "@weir/formats/codecs";
import type { AudioTrack } from "../packet.ts";

/** How long the frames of a track last, and a silent one of them; durations in samples. */
export interface AudioFrames {
  /** 0 for what is no frame. */
  samplesOf(bytes: Uint8Array): number;
  readonly silenceSamples: number;
  silence(): Uint8Array;
}

export function audioFramesOf(track: AudioTrack): AudioFrames {
  if (track.codec === "opus") {
    const silenceSamples = opusPacketSamples(SILENT_OPUS_PACKET);
    return { samplesOf: opusPacketSamples, silenceSamples, silence: () => SILENT_OPUS_PACKET };
  }
  const { frameSamples, channels } = track;
  return { samplesOf: () => frameSamples, silenceSamples: frameSamples, silence: () => silentAacFrame(channels) };
}
