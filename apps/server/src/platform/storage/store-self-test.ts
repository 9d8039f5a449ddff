import { randomUUID } from "node:crypto";
import { buffer } from "node:stream/consumers";
import type { ObjectStore } from "./object-store.ts";

const BYTES = Buffer.from("0123456789");

/** Performs every operation that recordings will need. Throws at the first one that fails, with the reason. */
export async function testStore(store: ObjectStore): Promise<void> {
  const folder = `v1/self-test/${randomUUID()}/`;
  await store.put(`${folder}whole`, BYTES);
  try {
    const part = await buffer(await store.read(`${folder}whole`, { start: 2, end: 4 }));
    if (!part.equals(BYTES.subarray(2, 5))) throw new Error("the store does not give back the range it was asked for");
    await store.putStream(
      `${folder}in-parts`,
      (async function* () {
        yield BYTES;
      })(),
    );
    const size = await store.size(`${folder}in-parts`);
    if (size !== BYTES.byteLength)
      throw new Error(`an object of ${BYTES.byteLength} bytes that was written in parts has ${size ?? "no"} bytes`);
  } finally {
    await store.deletePrefix(folder);
  }
  if ((await store.size(`${folder}whole`)) !== null)
    throw new Error("the store still has an object that was listed and deleted");
}
