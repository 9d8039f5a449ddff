import type { FileHandle } from "node:fs/promises";
import { NoRoom } from "./disk-failed.ts";

/** The calls of an open file that a growing file needs. */
export type WritableFile = Pick<FileHandle, "writev" | "truncate" | "datasync" | "close">;

/** A file that grows by whole pieces. A partly written piece is removed by `cut`, or overwritten by the next one. */
export class AppendFile {
  readonly #file: WritableFile;
  #bytes = 0;

  constructor(file: WritableFile) {
    this.#file = file;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Append all of it, or throw; returns the start offset. A disk that fills up may accept a part without an error: the rest is then written, or
   * fails.
   */
  async append(chunks: readonly Uint8Array[]): Promise<number> {
    const offset = this.#bytes;
    let left = chunks.filter(({ byteLength }) => byteLength > 0);
    let position = offset;
    while (left.length > 0) {
      const { bytesWritten } = await this.#file.writev(left, position);
      if (bytesWritten === 0) throw new NoRoom("the disk took nothing of a write");
      position += bytesWritten;
      left = behind(left, bytesWritten);
    }
    this.#bytes = position;
    return offset;
  }

  /** Remove everything from offset `bytes` on. */
  async cut(bytes: number): Promise<void> {
    this.#bytes = bytes;
    await this.#file.truncate(bytes);
  }

  /** Resolves when the appended bytes survive a power cut. */
  sync(): Promise<void> {
    return this.#file.datasync();
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

function behind(chunks: readonly Uint8Array[], bytes: number): Uint8Array[] {
  let taken = bytes;
  return chunks.flatMap((chunk) => {
    const skip = Math.min(taken, chunk.byteLength);
    taken -= skip;
    return skip === chunk.byteLength ? [] : [chunk.subarray(skip)];
  });
}
