import { describeAac, describeAv1, describeAvc, describeHevc } from "@weir/formats/codecs";
import { type AacTrack, FIRST_AUDIO_TRACK, VIDEO_TRACK, type VideoTrack } from "./packet.ts";

const DESCRIBE = { avc: describeAvc, hevc: describeHevc, av1: describeAv1 };

/** The video track that a decoder configuration describes; it keeps `config`. Throws `FormatError`. */
export function videoTrackOf(codec: VideoTrack["codec"], config: Uint8Array): VideoTrack {
  const { codecString, width, height, frameRate } = DESCRIBE[codec](config);
  const rate = frameRate === null ? {} : { frameRate };
  return { id: VIDEO_TRACK, kind: "video", codec, config, codecString, width, height, ...rate };
}

/** The AAC track that an AudioSpecificConfig describes; it keeps `config`. Throws `FormatError`. */
export function aacTrackOf(config: Uint8Array): AacTrack {
  return { id: FIRST_AUDIO_TRACK, kind: "audio", codec: "aac", config, ...describeAac(config) };
}
