import type { PlaybackAddress } from "../front/access-request.ts";

/** A whole file. */
export interface Mp4Address extends PlaybackAddress {
  /** `source`, or the name of a smaller rendition. Null for the original: an asset's file as it came. */
  readonly name: string | null;
}

/** As strict as the URLs of HLS. */
const ADDRESS = /^(?:\/asset)?\/hls\/([a-z0-9]{4,64})\/(?:(original)|static([\w-]{1,64})\.mp4)(?:\?[^#]*)?$/;

/** Parses the path of a file: `/hls/{playbackId}/static{name}.mp4` or `…/original`, both under `/asset` as well. Null for anything else. */
export function parseMp4Address(url: string): Mp4Address | null {
  const [, playbackId, original, name] = ADDRESS.exec(url) ?? [];
  if (playbackId === undefined) return null;
  // Each range of an original is asked about for itself: whether its owner asks is not known of what follows.
  const step = original === undefined ? "file" : "open";
  return { playbackId, protocol: "mp4", token: null, step, name: name ?? null };
}
