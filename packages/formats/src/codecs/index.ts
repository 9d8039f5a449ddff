export { type AacDescription, describeAac, silentAacFrame } from "./aac.ts";
export { describeAv1 } from "./av1.ts";
export { type AvcParameterSets, avcParameterSets, describeAvc } from "./avc.ts";
export { describeHevc, hevcParameterSets } from "./hevc.ts";
export { isIdrAccessUnit } from "./idr-access-unit.ts";
export { annexBToLengthPrefixed, lengthPrefixedToAnnexB } from "./nal-units.ts";
export { OPUS_SAMPLE_RATE, opusPacketSamples, SILENT_OPUS_PACKET } from "./opus.ts";
export type { Chroma, VideoDescription } from "./video-description.ts";
export * from "./x264-settings.ts";
