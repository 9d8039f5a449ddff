import { MAX_TOKEN_LENGTH } from "../viewer-token.ts";

/** What a media request asks for. Names are matched, never joined to a path. */
export type MediaAddress =
  | { readonly kind: "multivariant"; readonly playbackId: string }
  | { readonly kind: "mp4"; readonly playbackId: string }
  | {
      readonly kind: "file";
      readonly playbackId: string;
      readonly token: string;
      readonly timeline: string;
      readonly rendition: string;
      readonly file: string;
    };

const MAX_PATH = MAX_TOKEN_LENGTH + 512;
const PLAYBACK_ID = /^[a-z0-9]{4,64}$/;

/**
 * Read the path of a media request: `/hls/{playbackId}/index.m3u8`, `…/staticsource.mp4` or
 * `…/s/{token}/{timeline}/{rendition}/{file}`, all under `/asset` as well. Null for anything else.
 */
export function parseMediaAddress(url: string): MediaAddress | null {
  const query = url.indexOf("?");
  const path = query < 0 ? url : url.slice(0, query);
  if (path.length > MAX_PATH) return null;
  const words = path.split("/");
  const at = words[1] === "asset" ? 2 : 1;
  const playbackId = words[at + 1];
  const name = words[at + 2];
  if (words[at] !== "hls" || playbackId === undefined || name === undefined || !PLAYBACK_ID.test(playbackId))
    return null;
  if (words.length === at + 3) {
    if (name === "index.m3u8") return { kind: "multivariant", playbackId };
    if (name === "staticsource.mp4") return { kind: "mp4", playbackId };
    return null;
  }
  const token = words[at + 3];
  const timeline = words[at + 4];
  const rendition = words[at + 5];
  const file = words[at + 6];
  if (name !== "s" || words.length !== at + 7 || !token || !timeline || !rendition || !file) return null;
  return { kind: "file", playbackId, token, timeline, rendition, file };
}

export type BlockingQuery = { readonly msn: number; readonly part: number | null } | null | "invalid";

const COUNT = /^\d{1,15}$/;
/** As caches in front read it: undecoded, upper and lower case alike. */
const DIRECTIVE = /(?:^|&)(_HLS_(?:msn|part))=([^&]*)/gi;

/**
 * Read the delivery directives `_HLS_msn` and `_HLS_part` (RFC 8216bis 6.2.5.2). Null when there are none; other parameters are ignored.
 * One spelling, once each: a cache whose key has these two must not be brought to keep an answer that is another question's.
 */
export function parseBlockingQuery(url: string): BlockingQuery {
  const start = url.indexOf("?");
  if (start < 0) return null;
  const [query = ""] = url.slice(start + 1).split("#", 1);
  let msn: string | null = null;
  let part: string | null = null;
  for (const [, name, value = ""] of query.matchAll(DIRECTIVE)) {
    if (!COUNT.test(value)) return "invalid";
    if (name === "_HLS_msn" && msn === null) msn = value;
    else if (name === "_HLS_part" && part === null) part = value;
    else return "invalid";
  }
  if (msn === null) return part === null ? null : "invalid";
  return { msn: Number(msn), part: part === null ? null : Number(part) };
}
