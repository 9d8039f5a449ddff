export {
  AUDIO_TRACK_ID,
  type FragmentSample,
  VIDEO_TRACK_ID,
  writeAudioFragment,
  writeVideoFragment,
} from "./fragment.ts";
export { moveFragmentsEarlier } from "./fragment-time.ts";
export { initSegment, jointInit } from "./init-segment.ts";
export type { AudioInitTrack, InitTrack, VideoInitTrack } from "./sample-entry.ts";
export { type IndexedSegment, segmentIndex } from "./segment-index.ts";
