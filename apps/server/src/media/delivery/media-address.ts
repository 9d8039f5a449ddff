import type { IncomingMessage } from "node:http";
import { isStill, type StillAddress } from "./stills/still-address.ts";
import type { AccessRequest } from "./viewers/access-request.ts";
import { NOBODY, type Viewing } from "./viewers/admission.ts";

/** The target of a media request. Names are matched against known ones, never joined to a path. */
export type MediaAddress =
  | { readonly kind: "multivariant"; readonly playbackId: string }
  /** `source`, or the name of a smaller rendition. */
  | { readonly kind: "mp4"; readonly playbackId: string; readonly name: string }
  /** An asset's file as it came. */
  | { readonly kind: "original"; readonly playbackId: string }
  | FileAddress;

export interface FileAddress {
  readonly kind: "file";
  readonly playbackId: string;
  readonly token: string;
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
  /^(?:\/asset)?\/hls\/([a-z0-9]{4,64})\/(?:(index\.m3u8)|(original)|static([\w-]{1,64})\.mp4|s\/([\w-]+)\/([\w-]{1,64})\/([\w-]{1,64})\/(index\.m3u8|init-[0-9a-f]{8}\.mp4|\d{1,15}(?:\.\d{1,6}|-\d{1,15})?\.m4s|gap\.m4s))(?:\?[^#]*)?$/;

/**
 * Parses the path of a media request: `/hls/{playbackId}/index.m3u8`, `…/static{name}.mp4`, `…/original` or
 * `…/s/{token}/{timeline}/{rendition}/{file}`, all under `/asset` as well. Null for anything else.
 */
export function parseMediaAddress(url: string): MediaAddress | null {
  const [, playbackId, playlist, original, name, token, timeline, rendition, file] = ADDRESS.exec(url) ?? [];
  if (playbackId === undefined) return null;
  if (playlist !== undefined) return { kind: "multivariant", playbackId };
  if (original !== undefined) return { kind: "original", playbackId };
  if (name !== undefined) return { kind: "mp4", playbackId, name };
  if (token === undefined || timeline === undefined || rendition === undefined || file === undefined) return null;
  const media = mediaPlaceOf(file);
  return { kind: "file", playbackId, token, timeline, rendition, file, media, blocking: parseBlockingQuery(url) };
}

const MEDIA_NAME = /^(\d{1,15})(?:\.(\d{1,6}))?\.m4s$/;

function mediaPlaceOf(file: string): MediaPlace | null {
  const [, msn, part] = MEDIA_NAME.exec(file) ?? [];
  return msn === undefined ? null : { msn: Number(msn), part: part === undefined ? null : Number(part) };
}

const MAX_KNOWN = 1_000;
const MAX_KNOWN_LENGTH = 500;

/** Parses URLs and caches the results: all viewers of a stream request the same ones at the same time. */
export class MediaAddresses {
  readonly #known = new Map<string, MediaAddress | null>();

  find(url: string): MediaAddress | null {
    const known = this.#known.get(url);
    if (known !== undefined) return known;
    const address = parseMediaAddress(url);
    if (url.length > MAX_KNOWN_LENGTH) return address;
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(url, address);
    return address;
  }
}

/** The access request for this URL. */
export function accessRequestOf(
  req: IncomingMessage,
  url: string,
  address: MediaAddress | StillAddress,
): AccessRequest {
  const { playbackId } = address;
  // Thumbnails follow the access to the content; they never admit a new viewer.
  if (isStill(address)) return { req, url, playbackId, protocol: "hls", token: null, step: "follow" };
  if (address.kind === "file") {
    const token = address.token === NOBODY ? null : address.token;
    const step = address.file.endsWith(".m3u8") ? "follow" : "media";
    return { req, url, playbackId, protocol: "hls", token, step };
  }
  // Each range is asked about for itself: whether its owner asks is not known of what follows.
  if (address.kind === "original") return { req, url, playbackId, protocol: "mp4", token: null, step: "open" };
  const { range } = req.headers;
  const isBeginning = address.kind === "multivariant" || !range || range.startsWith("bytes=0-");
  const protocol = address.kind === "mp4" ? "mp4" : "hls";
  return { req, url, playbackId, protocol, token: null, step: isBeginning ? "open" : "follow" };
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
