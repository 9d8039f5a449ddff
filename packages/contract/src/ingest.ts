import { type Static, Type } from "typebox";

/**
 * Ingest and playback base URLs. RTMP is `{ingests.rtmp}/{streamKey}`, WHIP `{ingests.webrtc}/{streamKey}`, HLS
 * `{playback}/{playbackId}/index.m3u8`.
 */
export const Ingest = Type.Object({
  ingest: Type.String(),
  ingests: Type.Object({
    rtmp: Type.String(),
    srt: Type.Optional(Type.String()),
    webrtc: Type.Optional(Type.String()),
  }),
  playback: Type.String(),
  playbackDirect: Type.String(),
  base: Type.String(),
  baseDirect: Type.String(),
  origin: Type.String(),
});
export type Ingest = Static<typeof Ingest>;
