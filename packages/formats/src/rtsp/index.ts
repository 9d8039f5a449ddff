export { type Challenge, readChallenges } from "./challenges.ts";
export { type RtspHeaders, RtspReader, type RtspRequest, type RtspResponse } from "./rtsp-reader.ts";
