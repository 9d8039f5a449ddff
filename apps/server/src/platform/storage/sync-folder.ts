import { open } from "node:fs/promises";

/** Resolves when the names in a folder survive a power cut. A synced file whose name is not synced may be gone after one. */
export async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, "r");
  await handle.sync();
}
