import type { PlaybackAddress } from "../front/access-request.ts";
import { NOBODY, type Viewing } from "../front/admission.ts";

/** The target of an HLS request. Names are matched against known ones, never joined to a path. */
export type HlsAddress = MultivariantAddress | FileAddress;

interface MultivariantAddress extends PlaybackAddress {
  readonly kind: "multivariant";
}

export interface FileAddress extends PlaybackAddress {
  readonly kind: "file";
  readonly timeline: string;
  readonly rendition: string;
  readonly file: string;
  /** The segment or part that the file is; null for other files. */
  readonly media: MediaPlace | null;
  /** The part or segment that a playlist request waits for. */
  readonly blocking: BlockingQuery;
}

/** `part` is null for a whole segment. */
export interface MediaPlace {
  readonly msn: number;
  readonly part: number | null;
}

/**
 * The only accepted spelling of each URL, without escapes, empty or dot segments, backslashes and fragments: a cache that normalizes paths
 * differently must not check access for one URL and serve another.
 */
const ADDRESS =
  /^(?:\/asset)?\/hls\/([a-z0-9]{4,64})\/(?:index\.m3u8|s\/([\w-]+)\/([\w-]{1,64})\/([\w-]{1,64})\/(index\.m3u8|init-[0-9a-f]{8}\.mp4|\d{1,15}(?:\.\d{1,6}|-\d{1,15})?\.m4s|gap\.m4s))(?:\?[^#]*)?$/;

/**
 * Parses the path of an HLS request: `/hls/{playbackId}/index.m3u8` or `…/s/{token}/{timeline}/{rendition}/{file}`, both under `/asset` as well. Null
 * for anything else.
 */
export function parseHlsAddress(url: string): HlsAddress | null {
  const [, playbackId, named, timeline, rendition, file] = ADDRESS.exec(url) ?? [];
  if (playbackId === undefined) return null;
  if (named === undefined || timeline === undefined || rendition === undefined || file === undefined)
    return { kind: "multivariant", playbackId, protocol: "hls", token: null, step: "open" };
  const token = named === NOBODY ? null : named;
  const step = file.endsWith(".m3u8") ? "follow" : "media";
  const [media, blocking] = [mediaPlaceOf(file), parseBlockingQuery(url)];
  return { kind: "file", playbackId, protocol: "hls", token, step, timeline, rendition, file, media, blocking };
}

/** Whether the answer is a playlist. */
export const isPlaylist = ({ kind, step }: HlsAddress): boolean => kind === "multivariant" || step === "follow";

const MEDIA_NAME = /^(\d{1,15})(?:\.(\d{1,6}))?\.m4s$/;

function mediaPlaceOf(file: string): MediaPlace | null {
  const [, msn, part] = MEDIA_NAME.exec(file) ?? [];
  return msn === undefined ? null : { msn: Number(msn), part: part === undefined ? null : Number(part) };
}

/** Returns the URLs of a timeline's renditions relative to the multivariant playlist, with the viewer's token and the player's own id. */
export function renditionAddresses({ token, playerId }: Viewing, timeline: string): (rendition: string) => string {
  const query = playerId === null ? "" : `?tkn=${playerId}`;
  return (rendition) => `s/${token}/${timeline}/${rendition}/index.m3u8${query}`;
}

export type BlockingQuery = MediaPlace | null | "invalid";

const COUNT = /^\d{1,15}$/;
/** Matches like caches in front do: without decoding, case-insensitively. */
const DIRECTIVE = /(?:^|&)(_HLS_(?:msn|part))=([^&]*)/gi;

/**
 * Parses the delivery directives `_HLS_msn` and `_HLS_part` (RFC 8216bis 6.2.5.2). Null without them; other parameters are ignored. Only one
 * spelling, and each directive once: a cache with these two in its key must not be tricked into storing the response to another request.
 */
export function parseBlockingQuery(url: string): BlockingQuery {
  const start = url.indexOf("?");
  if (start < 0) return null;
  const query = url.slice(start + 1);
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
