import type { NodePlace } from "../../platform/cluster/index.ts";
import type { PlaybackAddress } from "./front/access-request.ts";
import type { HlsAddress } from "./hls/hls-addresses.ts";
import type { FoundSource, LiveSource, LiveSources } from "./live-source.ts";

/** Copies of what other nodes have. */
export interface Copies extends LiveSources {
  /** For a viewer of a stream at `place`; undefined where that node has to answer. */
  find(playbackId: string, streamId: string, place: NodePlace): FoundSource;
}

/** The sessions of this node, and its copies of those of others. */
export class NearSources implements LiveSources {
  readonly #own: LiveSources;
  readonly #copies: Copies | null;

  constructor(own: LiveSources, copies: Copies | null) {
    this.#own = own;
    this.#copies = copies;
  }

  session(sessionId: string): FoundSource {
    const own = this.#own.session(sessionId);
    if (!this.#copies || isGoingOn(own)) return own;
    return this.#copies.session(sessionId) ?? own;
  }

  sessionOf(playbackId: string): FoundSource {
    const own = this.#own.sessionOf(playbackId);
    if (!this.#copies || isGoingOn(own)) return own;
    return this.#copies.sessionOf(playbackId) ?? own;
  }
}

/** Whether this node has it, and no other is newer. */
export function isGoingOn(source: FoundSource): boolean {
  return source !== undefined && !(source instanceof Promise) && !source.isLeft && !source.isFinished;
}

/** Whether an address is one of the live window: of HLS, and not of lists that go back. */
export function isOfWindow(address: PlaybackAddress): address is HlsAddress {
  const hls = address as HlsAddress;
  if (hls.kind === "multivariant") return !hls.isDvr;
  return hls.kind === "file" && hls.dvrMsn === null && hls.file !== "dvr.m3u8";
}

/** Whether a copy has the file, or will have it next. What left the window a while ago is at its owner. */
export function hasFile(source: LiveSource, address: HlsAddress): boolean {
  if (address.kind === "multivariant") return true;
  const rendition = source.outputs.playlist(address.rendition)?.rendition;
  if (!rendition || source.sessionId !== address.timeline) return false;
  const { file, media } = address;
  if (file === "index.m3u8") return true;
  if (media === null) return [rendition.open, ...rendition.listed].some((segment) => segment?.init?.name === file);
  const segment = rendition.segment(media.msn);
  if (media.part === null) return segment !== undefined && segment !== rendition.open;
  const { nextPart } = rendition;
  const isNext = nextPart?.msn === media.msn && nextPart.part === media.part;
  return isNext || segment?.parts[media.part] !== undefined;
}
