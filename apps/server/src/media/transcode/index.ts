export { AudioConversion } from "./audio-conversion.ts";
export type { AudioSource } from "./audio-protocol.ts";
export type { ChildWork } from "./child-work.ts";
export { chooseEncoder } from "./encoder-probe.ts";
export { FrameRateMeter } from "./frame-rate-meter.ts";
export type { ChildEnd, RunningChild } from "./media-child.ts";
export { blackPicture, planarBytes } from "./planar-picture.ts";
export type { PreviewStart } from "./preview-protocol.ts";
export type { SheetJob, StillFormat, StillJob } from "./still-protocol.ts";
export { SupervisedChild } from "./supervised-child.ts";
export { type TestBroadcastJob, TestBroadcasts, TooManyTestBroadcasts } from "./test-broadcast.ts";
export {
  type TranscodeChild,
  type TranscodeChildHandler,
  type TranscodeChildren,
  TranscodePool,
} from "./transcode-child-process.ts";
export {
  type EncoderName,
  type FromChild,
  frameFromChild,
  frameToChild,
  type ToChild,
  toChildReader,
} from "./transcode-protocol.ts";
