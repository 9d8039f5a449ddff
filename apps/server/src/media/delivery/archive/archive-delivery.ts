import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import type { Clock } from "../../../platform/clock.ts";
import { attachmentNamed } from "../../../platform/http/attachment-named.ts";
import { codingFor } from "../../../platform/http/content-coding.ts";
import type { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import { Places } from "../../../platform/limits/places.ts";
import type { ByteRange, ObjectStore } from "../../../platform/storage/object-store.ts";
import type { MediaIndex, OriginalFile, PlaybackGate, StoredContent } from "../../../ports/index.ts";
import { archiveMultivariant, GAP_FILE } from "../../stored/archive-playlists.ts";
import type { OpenMedia, OpenRendition } from "../../stored/open-media.ts";
import {
  type Caching,
  EMPTY_SEGMENT,
  errorText,
  PERSONAL,
  PLAYLIST_TYPE,
  type StoredBytes,
  sendBuffers,
  sendCoded,
  sendNotFound,
  sendRedirect,
  sendStored,
  sendText,
} from "../answers/media-response.ts";
import { type MediaAddress, renditionAddresses } from "../media-address.ts";
import type { Viewing } from "../viewers/admission.ts";
import { ArchiveShelf } from "./archive-shelf.ts";

/** Concurrent reads from the store per client. The total is a share of the open files allowed. */
const MAX_READS_PER_CLIENT = 200;
const MAX_INIT_BYTES = 64 * 1024;
/** Lifetime of a signed URL. Clients follow redirects immediately; a revoked viewer can use the URL only this long. */
const ADDRESS_MS = 60_000;

export interface ArchiveRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly address: MediaAddress;
  readonly caching: Caching;
  /** Called once it is known that there is something to send; null means do not send it. */
  readonly begin: () => Viewing | null;
}

export interface ArchiveDeliverySettings {
  readonly clock: Clock;
  readonly playbackGate: Pick<PlaybackGate, "mediaIndex" | "noteMp4Size">;
  readonly store: ObjectStore;
  readonly proxies: TrustedProxies;
  /** Concurrent responses that may read from the store. */
  readonly maxReads: number;
}

/** Serves stored media from the object store: playlists rendered from the index, byte ranges of spans, and the MP4 assembled from them. */
export class ArchiveDelivery {
  readonly #store: ObjectStore;
  readonly #proxies: TrustedProxies;
  readonly #shelf: ArchiveShelf;
  readonly #reads: Places;

  constructor({ clock, playbackGate, store, proxies, maxReads }: ArchiveDeliverySettings) {
    this.#store = store;
    this.#proxies = proxies;
    this.#shelf = new ArchiveShelf(clock, playbackGate, (key) => this.readInit(key));
    this.#reads = new Places({ inAll: maxReads, perHolder: MAX_READS_PER_CLIENT });
  }

  /** Lays out the MP4, which reports its size to the gate. */
  async measure(content: StoredContent): Promise<void> {
    await (await this.#shelf.find(content))?.mp4("source");
  }

  /** The index of stored media; null if there is nothing to play. */
  async index(content: StoredContent): Promise<MediaIndex | null> {
    return (await this.#shelf.find(content))?.index ?? null;
  }

  async serve(content: StoredContent, asked: ArchiveRequest): Promise<void> {
    // The original is there from the moment the asset is ready.
    const media = await this.#shelf.find(content, asked.address.kind !== "original");
    if (!media) return sendNotFound(asked.res);
    const { res, address, caching, begin } = asked;
    if (address.kind === "multivariant") {
      const viewing = begin();
      if (!viewing) return;
      const text = archiveMultivariant(media.renditions.values(), renditionAddresses(viewing, content.id));
      return sendText(res, 200, PLAYLIST_TYPE, text, caching.multivariant);
    }
    if (address.kind === "mp4") {
      if (!media.hasMp4(address.name)) return sendNotFound(res);
      return begin() ? this.#mp4(asked, media, address.name) : undefined;
    }
    if (address.kind === "original") {
      const { original } = media.index;
      if (!original || content.isOriginalWithheld) return sendNotFound(res);
      return begin() ? this.#original(asked, original) : undefined;
    }
    const rendition = media.renditions.get(address.rendition);
    if (address.timeline !== media.index.id || !rendition) return sendNotFound(res);
    const isPlaylist = address.file === "index.m3u8";
    if (!isPlaylist && !rendition.files.has(address.file)) return sendNotFound(res);
    if (!begin()) return;
    return isPlaylist ? sendPlaylist(asked, rendition) : this.#file(asked, media, rendition, address.file);
  }

  async #file(asked: ArchiveRequest, media: OpenMedia, { stored }: OpenRendition, file: string): Promise<void> {
    const key = `${media.index.keyPrefix}${stored.rendition}/${file}`;
    const type = stored.track.kind === "audio" ? "audio/mp4" : "video/mp4";
    if (file === GAP_FILE)
      return void sendBuffers(asked.req, asked.res, type, asked.caching.immutable, [EMPTY_SEGMENT]);
    // The index lacks only the size of init segments, which players request once.
    const spanBytes = stored.spanBytes.get(file);
    // Signed URLs are valid for GET only. An init segment is so small that a redirect would cost more than the bytes.
    if (spanBytes !== undefined && asked.req.method === "GET" && this.#store.urlOf)
      return sendRedirect(asked.res, await this.#store.urlOf(key, ADDRESS_MS, type));
    const size = spanBytes ?? (await this.#store.size(key));
    if (size === null) return sendNotFound(asked.res);
    await this.#send(asked, {
      type,
      size,
      // The content of this URL never changes.
      etag: `"${size}"`,
      read: (range) => this.read(key, range),
    });
  }

  async #mp4(asked: ArchiveRequest, media: OpenMedia, name: string): Promise<void> {
    const { index } = media;
    const mp4 = await media.mp4(name);
    if (!mp4) return sendNotFound(asked.res);
    const { size, etag } = mp4;
    const readSpan = (rendition: string, span: string, range: ByteRange) =>
      this.read(`${index.keyPrefix}${rendition}/${span}`, range);
    await this.#send(asked, { type: "video/mp4", size, etag, read: (range) => mp4.read(range, readSpan) });
  }

  /** Never as what it is: a browser must save a stranger's file, not show it. Always through the server, whose answer says so. */
  async #original(asked: ArchiveRequest, { key, bytes, sha256, name }: OriginalFile): Promise<void> {
    // Its owner may withdraw it from viewers, so no shared cache keeps it.
    const caching = { ...asked.caching, immutable: PERSONAL.fresh };
    await this.#send(
      { ...asked, caching },
      {
        type: "application/octet-stream",
        disposition: attachmentNamed(name),
        size: bytes,
        etag: `"${sha256}"`,
        read: (range) => this.read(key, range),
      },
    );
  }

  /** Sends at the client's pace. The source file is closed with the response. */
  async #send({ req, res, caching }: ArchiveRequest, stored: StoredBytes): Promise<void> {
    const client = this.#proxies.clientOf(req);
    if (!this.#reads.take(client)) return sendBusy(res);
    try {
      await sendStored(req, res, caching.immutable, stored);
    } finally {
      this.#reads.giveBack(client);
    }
  }

  /** A few hundred bytes. Null for a missing object. */
  async readInit(key: string): Promise<Uint8Array | null> {
    const size = await this.#store.size(key);
    if (size === null || size > MAX_INIT_BYTES) return null;
    return buffer(await this.#store.read(key));
  }

  async *read(key: string, range: ByteRange): AsyncIterable<Uint8Array> {
    yield* await this.#store.read(key, range);
  }
}

async function sendPlaylist({ req, res, caching }: ArchiveRequest, { playlist }: OpenRendition): Promise<void> {
  const text = await (await playlist()).in(codingFor(req.headers["accept-encoding"]));
  sendCoded(req, res, PLAYLIST_TYPE, caching.fresh, text);
}

const TOO_MANY_READS = errorText("too-busy", "too many concurrent downloads: try again in a second");

/** Not cached, because other clients may have free slots. */
function sendBusy(res: ServerResponse): void {
  res.setHeader("retry-after", "1");
  sendText(res, 503, "application/json", TOO_MANY_READS, PERSONAL.error);
}
