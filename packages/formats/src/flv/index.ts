export { type AudioTag, readAudioTag } from "./audio-tag.ts";
export { readVideoTag, type VideoTag } from "./video-tag.ts";
export { AAC_CONFIG_HEAD, AAC_FRAME_HEAD, type VideoFrame, videoConfigHead, videoFrameHead } from "./write-tag.ts";
