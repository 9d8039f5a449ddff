/** Public interface of recordings: what is written while live, when they are complete, and where their bytes are. */
export { deleteRecordings, refuseViewers } from "./recording-deletion.ts";
export { recordingEvent } from "./recording-event.ts";
export {
  insertRecordedSegments,
  insertSealedSpans,
  noteFailedRecordings,
  noteSpooledRecordings,
} from "./recording-facts-store.ts";
export { type FinaliserDeps, settleRecordings } from "./recording-finaliser.ts";
export { findRecordedRange, hasUnsealed, readRecordingMoment } from "./recording-part.ts";
export {
  findNewestRecording,
  findRewindable,
  type NewestRecording,
  type RecordingShape,
  type RewindableRecording,
  readRecordingIndex,
  readRecordingShape,
  readSealedPart,
  readSealedSegments,
  recordMp4Size,
} from "./recording-store.ts";
export { purgeDeletedRecordings, type RetentionDeps } from "./retention.ts";
