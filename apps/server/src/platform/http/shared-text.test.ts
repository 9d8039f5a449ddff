import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { codingFor } from "../http/content-coding.ts";
import { ManualClock } from "../manual-clock-rig.ts";
import { Slices } from "../slices.ts";
import { SharedText } from "./shared-text.ts";

const pieces = Array.from({ length: 5_000 }, (_, n) => `segment ${n} of a long list\n`);

test("a text is rendered once and compressed once per coding, and each coding has its own ETag", async () => {
  const text = await SharedText.render(new Slices(new ManualClock()), pieces);
  const [plain, br, gzip] = await Promise.all([text.in(null), text.in("br"), text.in("gzip")]);
  expect(Buffer.from(plain.bytes).toString()).toBe(pieces.join(""));
  expect(brotliDecompressSync(br.bytes).toString()).toBe(pieces.join(""));
  expect(gunzipSync(gzip.bytes).toString()).toBe(pieces.join(""));
  expect(new Set([plain.etag, br.etag, gzip.etag]).size).toBe(3);
  expect((await text.in("br")).bytes).toBe(br.bytes);
});

test("the same text has the same ETag", async () => {
  const etagOf = async (text: readonly string[]) =>
    (await (await SharedText.render(new Slices(new ManualClock()), text)).in(null)).etag;
  expect(await etagOf(pieces)).toBe(await etagOf([pieces.join("")]));
  expect(await etagOf(pieces)).not.toBe(await etagOf([...pieces, "more"]));
});

test.each([
  [undefined, null],
  ["", null],
  ["gzip, deflate, br", "br"],
  ["gzip;q=1.0, br;q=0", "gzip"],
  ["br ;q=0.5", "br"],
  ["identity", null],
  ["gzip;q=0.0", null],
])("a client that accepts %j gets %j", (header, coding) => {
  expect(codingFor(header)).toBe(coding);
});
