export { AudioConversion, CONVERTED_AAC } from "./audio-conversion.ts";
export type { ChildWork } from "./child-work.ts";
export { chooseEncoder } from "./encoder-probe.ts";
export { FrameRateMeter } from "./frame-rate-meter.ts";
export { generateClip } from "./generated-clip.ts";
export type { ChildEnd, RunningChild } from "./media-child.ts";
export { blackPicture, planarBytes } from "./planar-picture.ts";
export { SupervisedChild, type SupervisedChildSettings } from "./supervised-child.ts";
export { type TestBroadcastJob, TestBroadcasts, TooManyTestBroadcasts } from "./test-broadcast.ts";
export {
  type TranscodeChild,
  type TranscodeChildHandler,
  type TranscodeChildren,
  TranscodePool,
} from "./transcode-child-process.ts";
export {
  type AudioSource,
  type EncodedPicture,
  type FromChild,
  frameOf,
  type PreviewStart,
  type SheetJob,
  type StillFormat,
  type StillJob,
  type ToChild,
  type TranscodeRung,
  type TranscodeStart,
} from "./transcode-protocol.ts";
