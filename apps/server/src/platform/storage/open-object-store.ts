import { join } from "node:path";
import { LocalObjectStore } from "./local-object-store.ts";
import type { ObjectStore } from "./object-store.ts";

/** The object store of this node: files in the data folder. The one place that chooses. */
export async function openObjectStore({ dataFolder }: { readonly dataFolder: string }): Promise<ObjectStore> {
  const store = new LocalObjectStore(join(dataFolder, "objects"));
  await store.open();
  return store;
}
