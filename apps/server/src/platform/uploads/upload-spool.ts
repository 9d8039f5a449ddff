import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { syncFolder } from "../storage/sync-folder.ts";
import { UploadRefused } from "./upload-refused.ts";

/** Uploads leave this much of the disk to the database, recordings and processed files. */
export const RESERVED_BYTES = 512 * 1024 * 1024;
/** Bytes written before the free disk space is checked again. */
const LOOK_EVERY_BYTES = 16 * 1024 * 1024;
const ID = /^[a-z0-9-]{1,64}$/;

/** What is known about an upload, besides its bytes. */
export interface UploadNote {
  /** Its holder may continue the upload. */
  readonly secret: string;
  /** As declared; null if only the end of the request tells. */
  readonly bytes: number | null;
  /** `Upload-Metadata`, as received. */
  readonly metadata: string | null;
}

export interface SpooledUpload extends UploadNote {
  readonly id: string;
  /** Bytes received, and verified if they came with a checksum. */
  readonly offset: number;
  /** When the last byte arrived, in milliseconds since the Unix epoch. */
  readonly touchedAt: number;
  readonly isComplete: boolean;
}

export interface Checksum {
  readonly algorithm: "md5" | "sha1" | "sha256";
  readonly digest: Buffer;
}

export interface UploadSpoolSettings {
  /** Must survive the process; needs no backup. */
  readonly folder: string;
  readonly freeBytes: () => number;
}

/**
 * Incoming files, as `{id}.bytes` with a note next to it. The size of the file is the offset, so nothing can disagree with it after a kill.
 * Bytes with an unverified checksum do not count: `{id}.from` says where they begin. The caller ensures one writer at a time.
 */
export class UploadSpool {
  readonly #folder: string;
  readonly #freeBytes: () => number;

  constructor({ folder, freeBytes }: UploadSpoolSettings) {
    this.#folder = folder;
    this.#freeBytes = freeBytes;
  }

  /** Create the folder, and delete bytes that a killed process had not verified. */
  async open(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    for (const name of await readdir(this.#folder)) {
      if (!name.endsWith(".from")) continue;
      const id = name.slice(0, -".from".length);
      const from = await this.#unverifiedFrom(id);
      const { size } = await stat(this.pathOf(id)).catch(() => ({ size: 0 }));
      if (size > from) await truncate(this.pathOf(id), from);
      await rm(this.#path(id, "from"));
    }
  }

  /** Start over; anything under this id is deleted. Throws `UploadRefused` if the disk has no space for it. */
  async create(id: string, note: UploadNote): Promise<void> {
    this.#requireRoom(note.bytes ?? 0);
    await this.remove(id);
    await writeDurably(this.pathOf(id), "wx", "");
    await this.#putNote(id, note);
  }

  /** Throws `UploadRefused` for a file that is complete, and on its way to the object store: nobody sends it anew. */
  async requireUnfinished(id: string): Promise<void> {
    if ((await this.find(id))?.isComplete)
      throw new UploadRefused(423, "all of this file has arrived, and is being stored: there is nothing more to send");
  }

  async find(id: string): Promise<SpooledUpload | null> {
    if (!ID.test(id)) return null;
    try {
      const note = JSON.parse(await readFile(this.#path(id, "json"), "utf8")) as UploadNote;
      const { size, mtimeMs } = await stat(this.pathOf(id));
      const offset = Math.min(size, await this.#unverifiedFrom(id));
      return { ...note, id, offset, touchedAt: mtimeMs, isComplete: offset === note.bytes };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      throw error;
    }
  }

  /** Append the incoming bytes; returns the new offset. Bytes before an error stay, unless they were to be verified by a checksum. */
  async append(id: string, offset: number, chunks: AsyncIterable<Uint8Array>, checksum?: Checksum): Promise<number> {
    await using file = await open(this.pathOf(id), "r+");
    if (!checksum) return await this.#write(file, offset, chunks).finally(() => file.datasync());
    const from = this.#path(id, "from");
    await writeDurably(from, "w", String(offset));
    const hash = createHash(checksum.algorithm);
    const read = hashed(chunks, (chunk) => hash.update(chunk));
    let end = offset;
    try {
      end = await this.#write(file, offset, read);
      if (!hash.digest().equals(checksum.digest)) throw new UploadRefused(460, "the checksum does not match");
      await file.datasync();
    } catch (error) {
      await file.truncate(offset);
      await rm(from);
      throw error;
    }
    await rm(from);
    // Or a power cut brings the mark back, and with it the offset before these bytes.
    await syncFolder(this.#folder);
    return end;
  }

  /** The length is now known, and the upload complete. */
  async complete(
    { id, secret, metadata }: Pick<SpooledUpload, "id" | "secret" | "metadata">,
    bytes: number,
  ): Promise<void> {
    await this.#putNote(id, { secret, metadata, bytes });
  }

  /** Whole after a power cut, or as it was. */
  async #putNote(id: string, note: UploadNote): Promise<void> {
    const unfinished = this.#path(id, "new");
    await writeDurably(unfinished, "w", JSON.stringify(note));
    await rename(unfinished, this.#path(id, "json"));
    await syncFolder(this.#folder);
  }

  async remove(id: string): Promise<void> {
    // The note is deleted last, so that remains of a crash are still found.
    for (const kind of ["from", "new", "bytes", "json"] as const) await rm(this.#path(id, kind), { force: true });
  }

  async ids(): Promise<string[]> {
    const names = await readdir(this.#folder);
    return [...new Set(names.map((name) => name.slice(0, name.lastIndexOf("."))))].filter((id) => ID.test(id));
  }

  pathOf(id: string): string {
    return this.#path(id, "bytes");
  }

  /** An empty mark was not written completely, so no byte came after it. */
  async #unverifiedFrom(id: string): Promise<number> {
    const text = await readFile(this.#path(id, "from"), "utf8").catch(() => "");
    return text === "" ? Number.POSITIVE_INFINITY : Number(text);
  }

  #path(id: string, kind: "bytes" | "json" | "from" | "new"): string {
    if (!ID.test(id)) throw new Error(`${JSON.stringify(id.slice(0, 100))} is not an id of an upload`);
    return join(this.#folder, `${id}.${kind}`);
  }

  #requireRoom(bytes: number): void {
    if (this.#freeBytes() - bytes < RESERVED_BYTES) throw noRoom();
  }

  async #write(file: FileHandle, offset: number, chunks: AsyncIterable<Uint8Array>): Promise<number> {
    let end = offset;
    let lookAt = offset;
    for await (const chunk of chunks) {
      if (end >= lookAt) {
        this.#requireRoom(chunk.byteLength);
        lookAt = end + LOOK_EVERY_BYTES;
      }
      for (let done = 0; done < chunk.byteLength; ) {
        const { bytesWritten } = await file.write(chunk, done, chunk.byteLength - done, end).catch(explain);
        done += bytesWritten;
        end += bytesWritten;
      }
    }
    return end;
  }
}

function explain(error: NodeJS.ErrnoException): never {
  throw error.code === "ENOSPC" || error.code === "EDQUOT" ? noRoom() : error;
}

const noRoom = () => new UploadRefused(507, "the server has no room for this file at the moment: try again later");

async function* hashed(chunks: AsyncIterable<Uint8Array>, add: (chunk: Uint8Array) => void): AsyncIterable<Uint8Array> {
  for await (const chunk of chunks) {
    add(chunk);
    yield chunk;
  }
}

async function writeDurably(path: string, flag: "w" | "wx", text: string): Promise<void> {
  await using file = await open(path, flag, 0o600);
  await file.writeFile(text);
  await file.sync();
}
