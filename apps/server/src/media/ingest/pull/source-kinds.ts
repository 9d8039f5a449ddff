import { TsToPackets } from "../ts/ts-to-packets.ts";
import { openSource } from "./open-source.ts";
import { RTMP } from "./rtmp/rtmp-kind.ts";
import { RTSP } from "./rtsp/rtsp-kind.ts";
import type { SourceKind } from "./source-reader.ts";

const TRANSPORT_STREAM: SourceKind<Uint8Array> = {
  open: openSource,
  reader: (sink, settings) => new TsToPackets(sink, settings),
};

/** Hands the kind of the source at `url` on: each has pieces of its own type. */
export function withKindOf<Result>(url: string, use: <Piece>(kind: SourceKind<Piece>) => Result): Result {
  if (/^rtsps?:/i.test(url)) return use(RTSP);
  return /^rtmps?:/i.test(url) ? use(RTMP) : use(TRANSPORT_STREAM);
}
