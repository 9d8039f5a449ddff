import { buffer } from "node:stream/consumers";
import { ObjectNotFound, type ObjectStore } from "../../platform/storage/object-store.ts";
import { requireRoom } from "../../platform/storage/store-room.ts";

/** The files of stored media that are being made, and notes with which a later run finds the work that an earlier run finished. */
export class StoredFiles {
  readonly prefix: string;
  readonly #store: ObjectStore;

  constructor(store: ObjectStore, prefix: string) {
    this.#store = store;
    this.prefix = prefix;
  }

  /** Stores a file at its path after the prefix. Rejects if the disk is almost full. */
  async put(path: string, bytes: Uint8Array): Promise<void> {
    requireRoom(this.#store, bytes.byteLength);
    await this.#store.put(`${this.prefix}${path}`, bytes);
  }

  /** Call after all files that the note describes are stored. A later run then skips the work. */
  async note(name: string, value: object): Promise<void> {
    await this.#store.put(this.#key(name), Buffer.from(JSON.stringify(value)));
  }

  noted<Value>(name: string): Promise<Value | null> {
    return readJson<Value>(this.#store, this.#key(name));
  }

  /** Removes everything, including unfinished work. */
  async dropAll(): Promise<void> {
    await this.#store.deletePrefix(this.prefix);
  }

  #key(name: string): string {
    return `${this.prefix}notes/${name}.json`;
  }
}

/** Trusted, since this server wrote it. Null if it does not exist. */
export async function readJson<Value>(store: Pick<ObjectStore, "read">, key: string): Promise<Value | null> {
  try {
    return JSON.parse((await buffer(await store.read(key))).toString("utf8")) as Value;
  } catch (error) {
    if (error instanceof ObjectNotFound) return null;
    throw error;
  }
}
