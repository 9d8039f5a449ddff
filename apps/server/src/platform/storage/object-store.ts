import type { Readable } from "node:stream";

/** Part of an object: both ends are inclusive, as in an HTTP range. */
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

/**
 * Whole immutable objects under keys that the server builds (`v1/…`, without user input). After a put resolves, the object is durable and
 * completely visible.
 */
export interface ObjectStore {
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Put the content of a local file. The file stays, and must not be changed afterwards: the object may share its bytes on the disk. */
  putFile(key: string, path: string): Promise<void>;
  /** Put a stream of unknown length. A stream that fails leaves no object. */
  putStream(key: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** Throws `ObjectNotFound`. */
  read(key: string, range?: ByteRange): Promise<Readable>;
  /** Size in bytes, or null if the object does not exist. */
  size(key: string): Promise<number | null>;
  /** No error if there is nothing to delete. */
  delete(key: string): Promise<void>;
  /** Delete every object whose key begins with `prefix`, which ends with a slash. */
  deletePrefix(prefix: string): Promise<void>;
  /** The names after `prefix`, which ends with a slash, up to the next slash in the keys of objects. */
  children(prefix: string): Promise<string[]>;
  /** The key of every object, in no order; what has another name is not Weir's and is left out. Objects that come or go meanwhile may be among them or not. */
  keys(): AsyncIterable<string>;
  /** Free space for objects in bytes; null if the store has no limit of its own. */
  freeBytes(): number | null;
  /**
   * Fill `views` with the bytes of an object from `start` on. Returns how many were read, which are fewer only at its end, or null if the object does not
   * exist; absent if objects are not files.
   */
  fill?(key: string, views: readonly Uint8Array[], start: number): Promise<number | null>;
  /** Path of the object as a file on this machine, to be read and never written; absent if objects are not files. Throws `ObjectNotFound`. */
  pathOf?(key: string): Promise<string>;
  /** A URL from which a client may read the object itself, for `ttlMs`, as this content type; absent if the store has no such URLs. */
  urlOf?(key: string, ttlMs: number, contentType?: string): Promise<string>;
  /** The origin of these addresses; absent without them. */
  readonly addressOrigin?: string;
}
