export { type AudioTag, readAudioTag } from "./audio-tag.ts";
export { readVideoTag, type VideoTag } from "./video-tag.ts";
