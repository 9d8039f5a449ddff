import { buffer } from "node:stream/consumers";
import type { Slices } from "../../platform/slices.ts";
import type { ObjectStore } from "../../platform/storage/object-store.ts";
import { PART_BYTES } from "../../platform/storage/s3-bucket.ts";
import type { MediaIndex } from "../../ports/index.ts";
import { archiveMultivariant } from "../stored/archive-playlists.ts";
import { OpenMedia } from "../stored/open-media.ts";
import { StoredMedia } from "../stored/stored-media.ts";
import type { CustomerStore } from "./customer-store.ts";

const PLAYLIST = "application/vnd.apple.mpegurl";
const MP4 = "video/mp4";

export interface BucketWriterSettings {
  readonly store: ObjectStore;
  readonly bucket: CustomerStore;
  readonly slices: Slices;
  readonly signal: AbortSignal;
  /** Called with the size of each chunk written. */
  readonly onBytes: (bytes: number) => Promise<void>;
}

/** Copies media from the object store to a customer's bucket, as files that play from there. */
export class BucketWriter {
  readonly #settings: BucketWriterSettings;
  readonly #media: OpenMedia;

  private constructor(settings: BucketWriterSettings, media: OpenMedia) {
    this.#settings = settings;
    this.#media = media;
  }

  static async open(settings: BucketWriterSettings, index: MediaIndex): Promise<BucketWriter> {
    const media = new StoredMedia(index, settings.store);
    return new BucketWriter(settings, await OpenMedia.open(media, settings.slices));
  }

  /** Bytes of one HLS output. */
  get hlsBytes(): number {
    const sizes = this.#media.index.renditions.flatMap(({ spanBytes }) => [...spanBytes.values()]);
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  /** Bytes of one MP4 output. */
  get mp4Bytes(): number {
    return (this.#media.index.mp4s ?? []).reduce((sum, { bytes = 0 }) => sum + bytes, 0);
  }

  /** Writes playlists after the files that they reference, so that a player never finds a missing file. */
  async hls(folder: string): Promise<void> {
    const { bucket } = this.#settings;
    for (const [name, { stored, files, playlist }] of this.#media.renditions) {
      for (const file of files) await this.#copy(`${name}/${file}`, folder, stored.spanBytes.get(file) ?? 0);
      const { bytes } = await (await playlist()).in(null);
      await bucket.put(`${folder}${name}/index.m3u8`, bytes, PLAYLIST);
    }
    const text = archiveMultivariant(this.#media.renditions.values(), (name) => `${name}/index.m3u8`);
    await bucket.put(`${folder}index.m3u8`, Buffer.from(text), PLAYLIST);
  }

  async mp4s(folder: string): Promise<void> {
    const { bucket } = this.#settings;
    const { mp4s = [] } = this.#media.index;
    for (const { name } of mp4s) {
      const mp4 = await this.#media.mp4(name);
      if (!mp4) continue;
      const bytes = this.#counted(mp4.read());
      await bucket.putStream(`${folder}static${name}.mp4`, bytes, MP4);
    }
  }

  async #copy(file: string, folder: string, bytes: number): Promise<void> {
    const { store, bucket } = this.#settings;
    const content = this.#counted(await store.read(`${this.#media.index.keyPrefix}${file}`));
    if (bytes > PART_BYTES) await bucket.putStream(`${folder}${file}`, content, MP4);
    else await bucket.put(`${folder}${file}`, await buffer(content), MP4);
  }

  async *#counted(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    for await (const chunk of bytes) {
      this.#settings.signal.throwIfAborted();
      yield chunk;
      await this.#settings.onBytes(chunk.byteLength);
    }
  }
}
