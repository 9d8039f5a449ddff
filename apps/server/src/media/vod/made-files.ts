import { buffer } from "node:stream/consumers";
import { ObjectNotFound, type ObjectStore } from "../../platform/storage/object-store.ts";
import { requireRoom } from "../../platform/storage/store-room.ts";
import type { FramedMessage, MadeSpan } from "./vod-protocol.ts";

/** The files made from one asset, and notes with which a later run finds the work that an earlier run finished. */
export class MadeFiles {
  readonly prefix: string;
  readonly #store: ObjectStore;

  constructor(store: ObjectStore, prefix: string) {
    this.#store = store;
    this.prefix = prefix;
  }

  /** Stores the file that a child made. Returns the span if it is one. */
  async keep({ message, bytes }: FramedMessage): Promise<MadeSpan | null> {
    if (message.type === "init") await this.#store.put(`${this.prefix}${message.rendition}/${message.file}`, bytes);
    if (message.type !== "span") return null;
    requireRoom(this.#store, bytes.byteLength);
    await this.#store.put(`${this.prefix}${message.rendition}/${message.span}`, bytes);
    return message;
  }

  /** Call after all files that the note describes are stored. A later run then skips the work. */
  async note(name: string, value: object): Promise<void> {
    await this.#store.put(this.#key(name), Buffer.from(JSON.stringify(value)));
  }

  async noted<Value>(name: string): Promise<Value | null> {
    try {
      return JSON.parse((await buffer(await this.#store.read(this.#key(name)))).toString("utf8")) as Value;
    } catch (error) {
      if (error instanceof ObjectNotFound) return null;
      throw error;
    }
  }

  async read(path: string): Promise<Uint8Array | null> {
    try {
      return await buffer(await this.#store.read(`${this.prefix}${path}`));
    } catch (error) {
      if (error instanceof ObjectNotFound) return null;
      throw error;
    }
  }

  /** Removes everything, including unfinished work. */
  async dropAll(): Promise<void> {
    await this.#store.deletePrefix(this.prefix);
  }

  #key(name: string): string {
    return `${this.prefix}notes/${name}.json`;
  }
}
