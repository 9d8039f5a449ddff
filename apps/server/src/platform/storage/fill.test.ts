import { randomBytes } from "node:crypto";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeTestFolder } from "../test-folder-rig.ts";
import { fillFrom, fillFromFile } from "./fill.ts";

const bytes = randomBytes(1_700_000);
/** Memory of these sizes, whose last byte nobody may write. */
const viewsOf = (...sizes: number[]) => sizes.map((size) => Buffer.alloc(size + 1).subarray(0, size));

async function fileOf(): Promise<string> {
  const path = join(makeTestFolder("fill"), "file");
  await writeFile(path, bytes);
  return path;
}

test("views are filled one after the other, from any place of a file, as far as it goes", async () => {
  const path = await fileOf();
  const whole = viewsOf(700_000, 0, 999_999, 1);
  expect(await fillFromFile(path, whole, 0)).toBe(bytes.byteLength);
  expect(Buffer.concat(whole).equals(bytes)).toBe(true);
  const middle = viewsOf(3, 2);
  expect(await fillFromFile(path, middle, 5)).toBe(5);
  expect(Buffer.concat(middle)).toEqual(bytes.subarray(5, 10));
  const end = viewsOf(7, 7);
  expect(await fillFromFile(path, end, 1_699_990)).toBe(10);
  expect(Buffer.concat(end).subarray(0, 10)).toEqual(bytes.subarray(1_699_990));
  expect(await fillFromFile(path, end, 1_800_000)).toBe(0);
  expect(await fillFromFile(path, [], 0)).toBe(0);
});

test("more views than the system takes in one call are filled", async () => {
  const many = viewsOf(...Array.from({ length: 3_000 }, () => 500));
  expect(await fillFromFile(await fileOf(), many, 0)).toBe(1_500_000);
  expect(Buffer.concat(many).equals(bytes.subarray(0, 1_500_000))).toBe(true);
});

test("a link, a folder, a missing file and what lies below a file are no files", async () => {
  const path = await fileOf();
  await symlink(path, `${path}-link`);
  for (const absent of [`${path}-link`, join(path, ".."), `${path}-none`, join(path, "below")])
    expect(await fillFromFile(absent, viewsOf(1), 0)).toBeNull();
});

test.each([
  ["as large as the views", [4, 6]],
  ["over several views", [10]],
  ["smaller than a view", [1, 1, 0, 1, 7]],
  ["fewer than the views take", [3, 4]],
  ["more than the views take", [9, 8, 5]],
])("pieces that are %s are copied", async (_, sizes) => {
  const views = viewsOf(4, 5, 1);
  const all = bytes.subarray(
    0,
    sizes.reduce((sum, size) => sum + size, 0),
  );
  async function* pieces() {
    let rest = all;
    for (const size of sizes) {
      yield rest.subarray(0, size);
      rest = rest.subarray(size);
    }
  }
  expect(await fillFrom(pieces(), views)).toBe(all.byteLength);
  expect(Buffer.concat(views).subarray(0, all.byteLength)).toEqual(all.subarray(0, 10));
});
