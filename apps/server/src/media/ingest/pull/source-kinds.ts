import { HTTP } from "./http/http-source.ts";
import { RTMP } from "./rtmp/rtmp-kind.ts";
import { RTSP } from "./rtsp/rtsp-kind.ts";
import type { SourceKind } from "./source-reader.ts";
import { SRT } from "./srt/srt-kind.ts";

/** Hands the kind of the source at `url` on: each has pieces of its own type. */
export function withKindOf<Result>(url: string, use: <Piece>(kind: SourceKind<Piece>) => Result): Result {
  if (/^rtsps?:/i.test(url)) return use(RTSP);
  if (/^rtmps?:/i.test(url)) return use(RTMP);
  return /^srt:/i.test(url) ? use(SRT) : use(HTTP);
}
