import { NoRoom } from "./disk-failed.ts";
import type { ObjectStore } from "./object-store.ts";

/** What is made of customers' files leaves so much of a disk to the database and to recordings, which stop at less. */
const RESERVED_BYTES = 256 * 1024 * 1024;

/** Throws where so many more bytes would take the last room of the disk that the object store is on. */
export function requireRoom(store: Pick<ObjectStore, "freeBytes">, bytes: number): void {
  const free = store.freeBytes();
  if (free !== null && free - bytes < RESERVED_BYTES)
    throw new NoRoom(
      "the disk of the object store is almost full: delete recordings or assets, or give it a larger disk",
    );
}
