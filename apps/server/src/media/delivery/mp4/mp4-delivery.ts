import { attachmentNamed } from "../../../platform/http/attachment-named.ts";
import { onceClosed } from "../../../platform/http/once-closed.ts";
import type { ByteRange } from "../../../platform/storage/object-store.ts";
import type { OriginalFile } from "../../../ports/index.ts";
import type { OpenMedia } from "../../stored/open-media.ts";
import type { ArchiveBytes } from "../archive/archive-bytes.ts";
import type { ArchiveShelf } from "../archive/archive-shelf.ts";
import type { Admission } from "../front/admission.ts";
import type { HttpProtocol, MediaRequest } from "../http/media-request.ts";
import { PERSONAL, sendNotFound } from "../http/media-response.ts";
import { sendRefusal } from "../http/refusals.ts";
import { type Mp4Address, parseMp4Address } from "./mp4-address.ts";

/** Stored media as whole files: an MP4 assembled from its spans, and the file that an asset was made from. */
export class Mp4Delivery implements HttpProtocol<Mp4Address> {
  readonly parse = parseMp4Address;
  readonly refuse = sendRefusal;
  readonly #shelf: ArchiveShelf;
  readonly #bytes: ArchiveBytes;

  constructor(shelf: ArchiveShelf, bytes: ArchiveBytes) {
    this.#shelf = shelf;
    this.#bytes = bytes;
  }

  async serve(asked: MediaRequest<Mp4Address>, admission: Admission): Promise<void> {
    const { content } = admission;
    const { name } = asked.address;
    // The original is there from the moment the asset is ready.
    const media = content.kind === "live" ? null : await this.#shelf.find(content, name !== null);
    if (!media || content.kind === "live") return sendNotFound(asked.res);
    if (name !== null) {
      if (!media.hasMp4(name)) return sendNotFound(asked.res);
      return begin(asked, admission) ? this.#mp4(asked, media, name) : undefined;
    }
    const { original } = media.index;
    if (!original || content.isOriginalWithheld) return sendNotFound(asked.res);
    return begin(asked, admission) ? this.#original(asked, original) : undefined;
  }

  async #mp4(asked: MediaRequest, media: OpenMedia, name: string): Promise<void> {
    const mp4 = await media.mp4(name);
    if (!mp4) return sendNotFound(asked.res);
    const { size, etag } = mp4;
    const stored = { type: "video/mp4", size, etag, read: (range: ByteRange) => mp4.read(range) };
    await this.#bytes.send(asked, asked.caching.immutable, stored);
  }

  /** Never as what it is: a browser must save a stranger's file, not show it. Always through the server, whose answer says so. */
  async #original(asked: MediaRequest, { key, bytes, sha256, name }: OriginalFile): Promise<void> {
    // Its owner may withdraw it from viewers, so no shared cache keeps it.
    await this.#bytes.send(asked, PERSONAL.fresh, {
      type: "application/octet-stream",
      disposition: attachmentNamed(name),
      size: bytes,
      etag: `"${sha256}"`,
      read: (range) => this.#bytes.read(key, range),
    });
  }
}

/** False if nothing is to be sent. A viewer who may no longer watch is cut off. */
function begin(asked: MediaRequest, admission: Admission): boolean {
  const viewing = asked.begin(admission);
  if (viewing)
    onceClosed(
      asked.res,
      viewing.whileAllowed(() => asked.res.destroy()),
    );
  return viewing !== null;
}
