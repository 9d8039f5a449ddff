import { StartupError } from "../../platform/startup-error.ts";
import { ObjectNotFound, type ObjectStore } from "../../platform/storage/object-store.ts";
import { Hashing, type IndexedObject, type ObjectIndex } from "./object-index.ts";

export interface ObjectCopy {
  readonly from: Pick<ObjectStore, "read">;
  readonly to: Pick<ObjectStore, "putStream" | "size" | "read">;
  readonly keys: AsyncIterable<string> | Iterable<string>;
  /** Of the copies: what is in it, and in `to`, is not copied again. */
  readonly copied: ObjectIndex;
  /** What the objects must be; without it, they are taken as they are read. */
  readonly expected?: ObjectIndex;
  /** Each copy is read from `to`, and compared, before it counts. For a copy whose original may be deleted. */
  readonly readsBack?: boolean;
  readonly onCopied?: (key: string) => void;
}

const AT_ONCE = 4;

/**
 * The one copier of objects: from a store to another, or to a backup, or back. It can be killed at any time and begun again. Notes in `copied` what
 * it found; an object that is deleted meanwhile is none. Throws `StartupError` for an object that is not what it should be.
 */
export async function copyObjects(copy: ObjectCopy): Promise<void> {
  const running = new Set<Promise<void>>();
  try {
    for await (const key of copy.keys) {
      const task = copyOne(copy, key).then((isThere) => {
        if (isThere) copy.copied.noteFound(key);
      });
      const done = task.finally(() => running.delete(done));
      running.add(done);
      if (running.size >= AT_ONCE) await Promise.race(running);
    }
    await Promise.all(running);
  } finally {
    await Promise.allSettled(running);
    copy.copied.flush();
  }
}

async function copyOne({ from, to, copied, expected, readsBack, onCopied }: ObjectCopy, key: string): Promise<boolean> {
  const known = copied.get(key);
  const isCopied = known !== undefined && (await to.size(key)) === known.bytes;
  if (!isCopied) {
    const hashing = new Hashing();
    try {
      await to.putStream(key, checked(hashing, await from.read(key), key, expected?.get(key)));
    } catch (error) {
      if (error instanceof ObjectNotFound && expected === undefined) return false;
      throw error;
    }
    if (readsBack) await compare(to, key, hashing.result);
    copied.add(key, hashing.result);
  }
  onCopied?.(key);
  return true;
}

/** Fails before its end is reached, so that nothing wrong is stored. */
async function* checked(
  hashing: Hashing,
  chunks: AsyncIterable<Uint8Array>,
  key: string,
  expected: IndexedObject | undefined,
): AsyncGenerator<Uint8Array, void> {
  yield* hashing.through(chunks);
  if (expected === undefined) return;
  const { sha256, bytes } = hashing.result;
  if (sha256 !== expected.sha256 || bytes !== expected.bytes)
    throw new StartupError(
      `the object ${key} of the backup is damaged: restore an earlier backup, or another copy of this one`,
    );
}

/** Throws `StartupError` if a copy that the target has acknowledged is not there, or has other bytes. */
async function compare(to: Pick<ObjectStore, "read">, key: string, written: IndexedObject): Promise<void> {
  const hashing = new Hashing();
  try {
    for await (const _ of hashing.through(await to.read(key)));
  } catch (error) {
    if (!(error instanceof ObjectNotFound)) throw error;
  }
  const { bytes, sha256 } = hashing.result;
  if (sha256 !== written.sha256)
    throw new StartupError(
      `the object ${key} was written with ${written.bytes} bytes and read back with ${bytes}, or others: the store does not keep what it acknowledges, so use another one`,
    );
}

/** Delete the copies that the last look at the source did not find. The index first: a copy that it does not know is made again where it is needed. */
export async function deleteUnfound(copied: ObjectIndex, to: Pick<ObjectStore, "delete">): Promise<void> {
  for (let gone = copied.forgetUnfound(); gone.length > 0; gone = copied.forgetUnfound())
    for (const key of gone) await to.delete(key);
}
