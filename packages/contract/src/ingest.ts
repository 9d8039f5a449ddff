import { type Static, Type } from "typebox";

/**
 * Ingest and playback base URLs. RTMP is `{ingests.rtmp}/{streamKey}`, RTMPS `{ingests.rtmps}/{streamKey}`, SRT
 * `{ingests.srt}?streamid={streamKey}`, WHIP `{ingests.webrtc}/{streamKey}`, HLS `{playback}/{playbackId}/index.m3u8`.
 */
export const Ingest = Type.Object({
  ingest: Type.String(),
  ingests: Type.Object({
    rtmp: Type.String(),
    rtmps: Type.Optional(Type.String({ description: "Absent without a TLS certificate (Weir addition)" })),
    srt: Type.Optional(Type.String({ description: "Absent if SRT is off or libsrt is missing" })),
    srtPassphrase: Type.Optional(
      Type.String({
        description: "The passphrase that SRT publishers need; only for keys with full access (Weir addition)",
      }),
    ),
    webrtc: Type.Optional(Type.String()),
  }),
  playback: Type.String(),
  playbackDirect: Type.String(),
  base: Type.String(),
  baseDirect: Type.String(),
  origin: Type.String(),
});
export type Ingest = Static<typeof Ingest>;
