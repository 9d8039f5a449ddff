import type { Readable } from "node:stream";

/** Part of an object: both ends inclusive, as in an HTTP range. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export class ObjectNotFound extends Error {
  readonly code = "object-not-found";
  readonly key: string;
  constructor(key: string) {
    super(`no object ${key} in the store`);
    this.key = key;
  }
}

/** Whole immutable objects under keys of our own making (`v1/…`, no user input). A put that resolved is durable and visible whole. */
export interface ObjectStore {
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Put the content of a local file. The file stays, and nobody may write to it afterwards: the object may be the same bytes on the disk. */
  putFile(key: string, path: string): Promise<void>;
  /** Put what a stream brings, of a length that is not known before. A stream that fails leaves no object. */
  putStream(key: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** Throws `ObjectNotFound`. */
  read(key: string, range?: ByteRange): Promise<Readable>;
  /** Size in bytes, or null where there is no such object. */
  size(key: string): Promise<number | null>;
  /** No error when there is nothing to delete. */
  delete(key: string): Promise<void>;
  /** Delete every object whose key begins with `prefix`, which ends with a slash. */
  deletePrefix(prefix: string): Promise<void>;
  /** The names that follow `prefix`, which ends with a slash, up to the next slash in the keys of objects. */
  children(prefix: string): Promise<string[]>;
  /** Room for more objects in bytes; null where the store has no limit of its own. */
  freeBytes(): number | null;
  /** Where the object lies as a file of this machine, to be read and never written; absent where objects are not files. Throws `ObjectNotFound`. */
  pathOf?(key: string): Promise<string>;
  /** An address from which a client may read the object itself, for `ttlMs`, as this content type; absent where the store has no such addresses. */
  urlOf?(key: string, ttlMs: number, contentType?: string): Promise<string>;
}
