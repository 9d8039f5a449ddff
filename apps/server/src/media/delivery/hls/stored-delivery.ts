import { codingFor } from "../../../platform/http/content-coding.ts";
import type { ObjectStore } from "../../../platform/storage/object-store.ts";
import type { StoredContent } from "../../../ports/index.ts";
import { archiveMultivariant, GAP_FILE } from "../../stored/archive-playlists.ts";
import type { OpenMedia, OpenRendition } from "../../stored/open-media.ts";
import type { ArchiveBytes } from "../archive/archive-bytes.ts";
import type { ArchiveShelf } from "../archive/archive-shelf.ts";
import type { Admission } from "../front/admission.ts";
import type { MediaRequest } from "../http/media-request.ts";
import { EMPTY_SEGMENT, sendBuffers, sendCoded, sendNotFound, sendRedirect, sendText } from "../http/media-response.ts";
import { type HlsAddress, renditionAddresses } from "./hls-addresses.ts";
import { PLAYLIST_TYPE } from "./hls-answers.ts";

/** Playlist of keyframes alone. */
const I_FRAMES = "iframes.m3u8";
/** Lifetime of a signed URL. Clients follow redirects immediately; a revoked viewer can use the URL only this long. */
const ADDRESS_MS = 60_000;

/** Stored media as HLS: playlists rendered from the index, and byte ranges of spans. */
export class StoredDelivery {
  readonly #store: ObjectStore;
  readonly #shelf: ArchiveShelf;
  readonly #bytes: ArchiveBytes;

  constructor(store: ObjectStore, shelf: ArchiveShelf, bytes: ArchiveBytes) {
    this.#store = store;
    this.#shelf = shelf;
    this.#bytes = bytes;
  }

  async serve(asked: MediaRequest<HlsAddress>, admission: Admission, content: StoredContent): Promise<void> {
    const { res, address, caching } = asked;
    const media = await this.#shelf.find(content);
    if (!media) return sendNotFound(res);
    if (address.kind === "multivariant") {
      const viewing = asked.begin(admission);
      if (!viewing) return;
      const addresses = (file: string) => renditionAddresses(viewing, content.id, file);
      const text = archiveMultivariant(media.renditions.values(), addresses("index.m3u8"), addresses(I_FRAMES));
      return sendText(res, 200, PLAYLIST_TYPE, text, caching.multivariant);
    }
    const rendition = media.renditions.get(address.rendition);
    if (address.timeline !== media.index.id || !rendition) return sendNotFound(res);
    const isIFrames = address.file === I_FRAMES && rendition.iFrameBitrates !== null;
    const isPlaylist = address.file === "index.m3u8" || isIFrames;
    if (!isPlaylist && !rendition.files.has(address.file)) return sendNotFound(res);
    if (!asked.begin(admission)) return;
    if (isPlaylist) return sendPlaylist(asked, isIFrames ? rendition.iFramePlaylist : rendition.playlist);
    return this.#file(asked, media, rendition, address.file);
  }

  async #file(asked: MediaRequest, media: OpenMedia, { stored }: OpenRendition, file: string): Promise<void> {
    const { req, res, caching } = asked;
    const key = media.media.keyOf(stored.rendition, file);
    const type = stored.track.kind === "audio" ? "audio/mp4" : "video/mp4";
    if (file === GAP_FILE) return void sendBuffers(req, res, type, caching.immutable, [EMPTY_SEGMENT]);
    // The index lacks only the size of init segments, which players request once.
    const spanBytes = stored.spanBytes.get(file);
    // Signed URLs are valid for GET only. An init segment is so small that a redirect would cost more than the bytes.
    if (spanBytes !== undefined && req.method === "GET" && this.#store.urlOf)
      return sendRedirect(res, await this.#store.urlOf(key, ADDRESS_MS, type));
    const size = spanBytes ?? (await this.#store.size(key));
    if (size === null) return sendNotFound(res);
    await this.#bytes.send(asked, caching.immutable, {
      type,
      size,
      // The content of this URL never changes.
      etag: `"${size}"`,
      read: (range) => this.#bytes.read(key, range),
    });
  }
}

async function sendPlaylist({ req, res, caching }: MediaRequest, playlist: OpenRendition["playlist"]): Promise<void> {
  const text = await (await playlist()).in(codingFor(req.headers["accept-encoding"]));
  sendCoded(req, res, PLAYLIST_TYPE, caching.fresh, text);
}
