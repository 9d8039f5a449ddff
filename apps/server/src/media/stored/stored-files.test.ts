import { expect, test } from "vitest";
import type { ObjectStore } from "../../platform/storage/object-store.ts";
import { StoredFiles } from "./stored-files.ts";

const MIB = 1024 * 1024;

test("processing leaves the last 256 MiB of the disk to recordings and the database", async () => {
  const kept: string[] = [];
  let free = 300 * MIB;
  const store = { freeBytes: () => free, put: async (key: string) => void kept.push(key) } as unknown as ObjectStore;
  const made = new StoredFiles(store, "v1/p/");
  const span = (bytes: number) => made.put("v0/1.m4s", new Uint8Array(bytes));
  await span(40 * MIB);
  await expect(span(50 * MIB)).rejects.toThrow(/almost full/);
  free = 200 * MIB;
  await expect(span(1)).rejects.toThrow(/almost full/);
  expect(kept).toEqual(["v1/p/v0/1.m4s"]);
});
