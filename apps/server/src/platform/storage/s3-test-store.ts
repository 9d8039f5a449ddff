import crypto, { type CipherKey, createHash, randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type S3rver from "s3rver";
import { Turns } from "../limits/turns.ts";
import { isAbsent } from "./fill.ts";

interface NewObject {
  readonly bucket: string;
  readonly key: string;
  readonly content: Readable | Buffer;
  readonly metadata: unknown;
}

type Operation = (...given: unknown[]) => Promise<unknown>;

/** The store of an S3rver: what of it is used here. */
interface Store {
  putObject(object: NewObject): Promise<{ size: number; md5: string }>;
  putMetadata(bucket: string, key: string, metadata: unknown, md5: string): Promise<void>;
  getResourcePath(bucket: string, key: string, resource: "object"): string;
  getObject: Operation;
  listObjects: Operation;
  deleteObject: Operation;
  copyObject: Operation;
}

const { createCipheriv } = crypto;

/**
 * S3rver names the next page of a list by DES, which OpenSSL 3 no longer has: it answers every list of more than 1,000 objects with 500. Triple DES with one key
 * three times is DES.
 */
function bringBackDes(): void {
  crypto.createCipheriv = ((name: string, key: CipherKey, ...rest: [never]) =>
    name === "des"
      ? createCipheriv("des-ede3-cbc", Buffer.concat([key, key, key] as Buffer[]), ...rest)
      : createCipheriv(name, key, ...rest)) as typeof createCipheriv;
}

/**
 * Makes the objects of a test server appear whole and at once, as those of S3 do. S3rver writes them in place, and walks through folders while others remove
 * from them: of 400 lists beside writes and deletes 60 failed, and the write of an object whose folder was just removed ended the process. `incoming`: a
 * folder of the same file system.
 */
export function storeWholeObjects(server: S3rver, incoming: string): void {
  bringBackDes();
  const { store } = server as unknown as { readonly store: Store };
  const turns = new Turns({ atATime: 1 });
  const takeTurns = (act: Operation): Operation => {
    const ofStore = act.bind(store);
    return (...given) => turns.run(() => ofStore(...given));
  };
  store.getObject = takeTurns(store.getObject);
  store.listObjects = takeTurns(store.listObjects);
  store.copyObject = takeTurns(store.copyObject);
  const remove = takeTurns(store.deleteObject);
  // It looks for others in a folder that is not there, after it has removed the object.
  store.deleteObject = (...given) =>
    remove(...given).catch((error) => {
      if (!isAbsent(error)) throw error;
    });
  store.putObject = async ({ bucket, key, content, metadata }) => {
    const whole = join(incoming, randomUUID());
    const hash = createHash("md5");
    let size = 0;
    const measured = async function* (bytes: AsyncIterable<Buffer>) {
      for await (const some of bytes) {
        hash.update(some);
        size += some.length;
        yield some;
      }
    };
    try {
      await pipeline(Buffer.isBuffer(content) ? Readable.from([content]) : content, measured, createWriteStream(whole));
    } catch (error) {
      await rm(whole, { force: true });
      throw error;
    }
    const md5 = hash.digest("hex");
    return turns.run(async () => {
      const path = store.getResourcePath(bucket, key, "object");
      await mkdir(dirname(path), { recursive: true });
      await rename(whole, path);
      await store.putMetadata(bucket, key, metadata, md5);
      return { size, md5 };
    });
  };
}
