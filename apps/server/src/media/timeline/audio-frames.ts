import { opusPacketSamples, SILENT_OPUS_PACKET, silentAacFrame } from "@weir/formats/codecs";
import type { AudioTrack } from "../packet.ts";

/** Durations of a track's frames, in samples, and its silent frame. */
export interface AudioFrames {
  /** 0 for invalid data. */
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
