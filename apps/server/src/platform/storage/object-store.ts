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
  /** Put the content of a local file; the file stays. */
  putFile(key: string, path: string): Promise<void>;
  /** Throws `ObjectNotFound`. */
  read(key: string, range?: ByteRange): Promise<Readable>;
  /** Size in bytes, or null where there is no such object. */
  size(key: string): Promise<number | null>;
  /** No error when there is nothing to delete. */
  delete(key: string): Promise<void>;
}
