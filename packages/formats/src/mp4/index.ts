export { type FragmentEdit, FragmentEditor } from "./edit-fragments.ts";
export { firstSampleAt, firstSampleOf } from "./first-sample.ts";
export {
  AUDIO_TRACK_ID,
  type FragmentSample,
  VIDEO_TRACK_ID,
  writeAudioFragment,
  writeVideoFragment,
} from "./fragment.ts";
export { type FragmentHead, fragmentHead } from "./fragment-head.ts";
export { decoderConfigOf, entryType, inBandEntry, parameterSetsOf } from "./in-band-sets.ts";
export { initSegment, type JointTrack, jointInit } from "./init-segment.ts";
export { joinFragments, joinMoofs } from "./join-fragments.ts";
export { TrackJoiner } from "./join-tracks.ts";
export { type InitDescription, readInit } from "./read-init.ts";
export { readSamples } from "./read-samples.ts";
export type { AudioInitTrack, InitTrack, VideoInitTrack } from "./sample-entry.ts";
export { type IndexedTrack, segmentIndexes } from "./segment-index.ts";
export type { SourceFormat } from "./source-entry.ts";
export { type Mp4Frame, Mp4Reader } from "./source-reader.ts";
