import { randomBytes } from "node:crypto";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeTestFolder } from "../test-folder-rig.ts";
import { filePieces } from "./file-pieces.ts";

const bytes = randomBytes(1_700_000);

async function collect(path: string, start: number, end: number): Promise<{ bytes: Buffer; buffers: number }> {
  const [copies, buffers]: [Buffer[], Set<unknown>] = [[], new Set()];
  for await (const piece of filePieces(path, { start, end })) {
    copies.push(Buffer.from(piece));
    buffers.add(piece.buffer);
  }
  return { bytes: Buffer.concat(copies), buffers: buffers.size };
}

test("a range of a file comes through one buffer, and readers at once have one each", async () => {
  const path = join(makeTestFolder("pieces"), "file");
  await writeFile(path, bytes);
  expect(await collect(path, 0, 1_699_999)).toEqual({ bytes, buffers: 1 });
  expect((await collect(path, 5, 9)).bytes).toEqual(bytes.subarray(5, 10));
  expect((await collect(path, 1_699_990, 1_800_000)).bytes).toEqual(bytes.subarray(1_699_990));
  const all = await Promise.all([1, 2, 3, 4].map((start) => collect(path, start, 1_699_999)));
  expect(all.map(({ bytes: read }, nth) => read.equals(bytes.subarray(nth + 1)))).toEqual([true, true, true, true]);
});

test("a reader that stops closes the file; a link and a missing file are errors", async () => {
  const folder = makeTestFolder("pieces");
  const path = join(folder, "file");
  await writeFile(path, bytes);
  for await (const _ of filePieces(path, { start: 0, end: 1_699_999 })) break;
  expect((await collect(path, 0, 1_699_999)).bytes.equals(bytes)).toBe(true);
  await symlink(path, join(folder, "link"));
  await expect(collect(join(folder, "link"), 0, 1)).rejects.toMatchObject({ code: "ELOOP" });
  await expect(collect(join(folder, "none"), 0, 1)).rejects.toMatchObject({ code: "ENOENT" });
});
