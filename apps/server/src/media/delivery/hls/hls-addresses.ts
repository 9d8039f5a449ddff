import type { PlaybackAddress } from "../front/access-request.ts";
import { NOBODY, type Viewing } from "../front/admission.ts";

/** The target of an HLS request. Names are matched against known ones, never joined to a path. */
export type HlsAddress = MultivariantAddress | FileAddress;

export interface MultivariantAddress extends PlaybackAddress {
  readonly kind: "multivariant";
  /** Of playlists that go back. */
  readonly isDvr: boolean;
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
  /** A playlist that goes back is wanted as a delta update. */
  readonly skip: boolean | "invalid";
  /** Number of the segment of such a playlist; null for other files. */
  readonly dvrMsn: number | null;
}

/** `part` is null for a whole segment. */
export interface MediaPlace {
  readonly msn: number;
  readonly part: number | null;
}

const LIST = /index\.m3u8|iframes\.m3u8|dvr\.m3u8|dvr-iframes\.m3u8/;
const MEDIA = /init-[0-9a-f]{8}\.mp4|d\d{1,15}\.m4s|\d{1,15}(?:\.\d{1,6}|-\d{1,15})?\.m4s|gap\.m4s/;
const RENDITION = /s\/([\w-]+)\/([\w-]{1,64})\/([\w-]{1,64})/;

/**
 * The only accepted spelling of each URL, without escapes, empty or dot segments, backslashes and fragments: a cache that normalizes paths
 * differently must not check access for one URL and serve another.
 */
const ADDRESS = new RegExp(
  `^(?:/asset)?/hls/([a-z0-9]{4,64})/(?:index\\.m3u8|${RENDITION.source}/(${LIST.source}|${MEDIA.source}))(?:\\?[^#]*)?$`,
);

const NOT_FOUND: readonly (string | undefined)[] = [];

/**
 * Parses the path of an HLS request: `/hls/{playbackId}/index.m3u8` or `…/s/{token}/{timeline}/{rendition}/{file}`, both under `/asset` as well. Null
 * for anything else.
 */
export function parseHlsAddress(url: string): HlsAddress | null {
  const { 1: playbackId, 2: named, 3: timeline, 4: rendition, 5: file } = ADDRESS.exec(url) ?? NOT_FOUND;
  if (playbackId === undefined) return null;
  if (named === undefined || timeline === undefined || rendition === undefined || file === undefined)
    return { kind: "multivariant", playbackId, protocol: "hls", token: null, step: "open", isDvr: IS_DVR.test(url) };
  const token = named === NOBODY ? null : named;
  const address = { kind: "file", playbackId, protocol: "hls", token, timeline, rendition, file } as const;
  if (file.endsWith(".m3u8")) {
    const { blocking, skip } = directivesOf(url);
    return { ...address, step: "follow", media: null, dvrMsn: null, blocking, skip };
  }
  const dvrMsn = file.startsWith("d") ? Number(file.slice(1, -".m4s".length)) : null;
  return { ...address, step: "media", media: mediaPlaceOf(file), dvrMsn, blocking: null, skip: false };
}

/** Whether the answer is a playlist. */
export const isPlaylist = ({ kind, step }: HlsAddress): boolean => kind === "multivariant" || step === "follow";

const MEDIA_NAME = /^(\d{1,15})(?:\.(\d{1,6}))?\.m4s$/;

function mediaPlaceOf(file: string): MediaPlace | null {
  const [, msn, part] = MEDIA_NAME.exec(file) ?? [];
  return msn === undefined ? null : { msn: Number(msn), part: part === undefined ? null : Number(part) };
}

/** Returns the URLs of a timeline's renditions relative to the multivariant playlist, with the viewer's token and the player's own id. */
export function renditionAddresses(
  { token, playerId }: Viewing,
  timeline: string,
  file = "index.m3u8",
): (rendition: string) => string {
  const query = playerId === null ? "" : `?tkn=${playerId}`;
  return (rendition) => `s/${token}/${timeline}/${rendition}/${file}${query}`;
}

type BlockingQuery = MediaPlace | null | "invalid";

const IS_DVR = /[?&]dvr=1(?:&|$)/;
const COUNT = /^\d{1,15}$/;
/** Matches like caches in front do: without decoding, case-insensitively. */
const DIRECTIVE = /(?:^|&)(_HLS_(?:msn|part|skip))=([^&]*)/gi;

/**
 * Parses the delivery directives `_HLS_msn`, `_HLS_part` and `_HLS_skip` (RFC 8216bis 6.2.5); other parameters are ignored. Only one spelling, and
 * each directive once: a cache with these in its key must not be tricked into storing the response to another request.
 */
function directivesOf(url: string): Pick<FileAddress, "blocking" | "skip"> {
  const start = url.indexOf("?");
  if (start < 0) return { blocking: null, skip: false };
  let msn: string | null = null;
  let part: string | null = null;
  let skip: FileAddress["skip"] = false;
  let isInvalid = false;
  for (const [, name, value = ""] of url.slice(start + 1).matchAll(DIRECTIVE)) {
    if (name?.toLowerCase() === "_hls_skip")
      skip = skip === false && name === "_HLS_skip" && (value === "YES" || value === "v2") ? true : "invalid";
    else if (!COUNT.test(value)) isInvalid = true;
    else if (name === "_HLS_msn" && msn === null) msn = value;
    else if (name === "_HLS_part" && part === null) part = value;
    else isInvalid = true;
  }
  if (isInvalid || (msn === null && part !== null)) return { blocking: "invalid", skip };
  return { blocking: msn === null ? null : { msn: Number(msn), part: part === null ? null : Number(part) }, skip };
}
