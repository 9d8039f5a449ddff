import { expect, test } from "vitest";
import type { ObjectStore } from "../../platform/storage/object-store.ts";
import { MadeFiles } from "./made-files.ts";
import type { FramedMessage } from "./vod-protocol.ts";

const MIB = 1024 * 1024;

test("processing leaves the last 256 MiB of the disk to recordings and the database", async () => {
  const kept: string[] = [];
  let free = 300 * MIB;
  const store = { freeBytes: () => free, put: async (key: string) => void kept.push(key) } as unknown as ObjectStore;
  const made = new MadeFiles(store, "v1/p/");
  const span = (bytes: number) =>
    ({
      message: { type: "span", rendition: "v0", span: "1.m4s", segments: [] },
      bytes: new Uint8Array(bytes),
    }) as unknown as FramedMessage;
  await made.keep(span(40 * MIB));
  await expect(made.keep(span(50 * MIB))).rejects.toThrow(/almost full/);
  free = 200 * MIB;
  await expect(made.keep(span(1))).rejects.toThrow(/almost full/);
  expect(kept).toEqual(["v1/p/v0/1.m4s"]);
});
