import type { SourceKind } from "../source-reader.ts";
import { openRtsp, type RtspPiece } from "./rtsp-source.ts";
import { RtspToPackets } from "./rtsp-to-packets.ts";

/** Cameras: RTSP with its media on the same TCP connection. */
export const RTSP: SourceKind<RtspPiece> = {
  open: openRtsp,
  reader: (sink, settings) => new RtspToPackets(sink, settings),
};
