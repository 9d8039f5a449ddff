import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { type FileHandle, open, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { syncFolder } from "../../platform/storage/sync-folder.ts";

/** What an object is: its size, and the hash of its bytes. */
export interface IndexedObject {
  readonly bytes: number;
  /** SHA-256 in hex. */
  readonly sha256: string;
}

/** `sha256 bytes key` */
const LINE = /^([0-9a-f]{64}) (\d+) (\S+)$/;
/** Synced together: a kill costs copying so many objects again. */
const LINES_AT_A_TIME = 64;

/** The objects that a copy holds, in a file that grows by a line for each. A line that a kill cut off is ignored. */
export class ObjectIndex {
  readonly #path: string;
  readonly #objects = new Map<string, IndexedObject>();
  #file: FileHandle | null = null;
  #waiting: string[] = [];

  constructor(path: string) {
    this.#path = path;
  }

  get size(): number {
    return this.#objects.size;
  }

  get bytes(): number {
    let sum = 0;
    for (const { bytes } of this.#objects.values()) sum += bytes;
    return sum;
  }

  async open(): Promise<void> {
    if (existsSync(this.#path)) {
      for await (const line of createInterface({ input: createReadStream(this.#path) })) {
        const [, sha256 = "", bytes = "", key = ""] = LINE.exec(line) ?? [];
        if (key !== "") this.#objects.set(key, { bytes: Number(bytes), sha256 });
      }
    }
    // Behind a line that was cut off, the next one begins on its own.
    await this.#append(existsSync(this.#path) ? "\n" : "");
  }

  get(key: string): IndexedObject | undefined {
    return this.#objects.get(key);
  }

  keys(): IterableIterator<string> {
    return this.#objects.keys();
  }

  /** Durable after `flush`. */
  async add(key: string, object: IndexedObject): Promise<void> {
    this.#objects.set(key, object);
    this.#waiting.push(lineOf(key, object));
    if (this.#waiting.length >= LINES_AT_A_TIME) await this.flush();
  }

  async flush(): Promise<void> {
    const lines = this.#waiting.join("");
    this.#waiting = [];
    if (lines !== "") await this.#append(lines);
  }

  /** Write the file anew, with only these keys. */
  async keepOnly(keys: ReadonlySet<string>): Promise<void> {
    for (const key of this.#objects.keys()) if (!keys.has(key)) this.#objects.delete(key);
    await this.close();
    const unfinished = `${this.#path}.unfinished`;
    const file = await open(unfinished, "w", 0o600);
    for (const [key, object] of this.#objects) await file.write(lineOf(key, object));
    await file.sync();
    await file.close();
    await rename(unfinished, this.#path);
    await syncFolder(dirname(this.#path));
  }

  async close(): Promise<void> {
    await this.flush();
    await this.#file?.close();
    this.#file = null;
  }

  async #append(text: string): Promise<void> {
    this.#file ??= await open(this.#path, "a", 0o600);
    await this.#file.write(text);
    await this.#file.datasync();
  }
}

const lineOf = (key: string, { sha256, bytes }: IndexedObject): string => `${sha256} ${bytes} ${key}\n`;

/** Passes bytes on, and knows their number and hash when they are over. */
export class Hashing {
  readonly #hash = createHash("sha256");
  #bytes = 0;
  #digest: string | null = null;

  async *through(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    for await (const chunk of chunks) {
      this.#hash.update(chunk);
      this.#bytes += chunk.byteLength;
      yield chunk;
    }
  }

  get result(): IndexedObject {
    this.#digest ??= this.#hash.digest("hex");
    return { bytes: this.#bytes, sha256: this.#digest };
  }
}
