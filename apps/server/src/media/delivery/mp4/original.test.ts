import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import { ManualClock } from "../../../platform/manual-clock-rig.ts";
import type { ObjectStore } from "../../../platform/storage/object-store.ts";
import type { MediaCatalogue, MediaIndex, StoredContent } from "../../../ports/index.ts";
import { ArchiveBytes } from "../archive/archive-bytes.ts";
import { ArchiveShelf } from "../archive/archive-shelf.ts";
import type { Admission, Viewing } from "../front/admission.ts";
import { MediaRequest } from "../http/media-request.ts";
import { parseMp4Address } from "./mp4-address.ts";
import { Mp4Delivery } from "./mp4-delivery.ts";

const FILE = Buffer.from("<script>alert(1)</script> or a film");
const KEY = "v1/project-1/asset/asset-1/source/original";
const ORIGINAL = { key: KEY, bytes: FILE.length, sha256: "ab12", name: "Über uns.html" };
const CONTENT: StoredContent = { kind: "asset", id: "asset-1", projectId: "project-1" };

function deliveryOf(given: Partial<MediaIndex>) {
  const store = {
    // Redirects are on: an answer of the store would not say that the file is to be saved.
    urlOf: async () => "https://s3.test/",
    read: async (key: string, { start, end } = { start: 0, end: FILE.length - 1 }) =>
      Readable.from(key === KEY ? [FILE.subarray(start, end + 1)] : []),
  } as unknown as ObjectStore;
  const isAsked = Promise.withResolvers<void>();
  /** `wait`: until the database answers; `asked` resolves when it is asked. */
  const index: { wait: Promise<void>; readonly asked: Promise<void> } = {
    ...{ wait: Promise.resolve(), asked: isAsked.promise },
  };
  const mediaIndex = async () => {
    isAsked.resolve();
    await index.wait;
    return { id: "asset-1", projectId: "project-1", keyPrefix: "", renditions: [], ...given };
  };
  const bytes = new ArchiveBytes(store, 10);
  const shelf = new ArchiveShelf(new ManualClock(), { mediaIndex } as unknown as MediaCatalogue, store);
  return { delivery: new Mp4Delivery(shelf, bytes), index };
}

async function listen(
  delivery: Mp4Delivery,
  viewing: Viewing,
  onAnswer: (res: ServerResponse, answer: Promise<void>) => void,
  content = CONTENT,
) {
  const address = parseMp4Address("/hls/asset1/original");
  if (!address) throw new Error("no address");
  const handOver = () => {
    throw new Error("stored media is at every node");
  };
  const admission: Admission = { content, isShared: true, countViewer: () => viewing, handOver, missed() {} };
  const server = createServer((req, res) => {
    const asked = new MediaRequest(req, res, "", { address, protocol: delivery }, new TrustedProxies([]));
    onAnswer(res, Promise.resolve(asked.answer(admission)));
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { ask: (init: RequestInit = {}) => fetch(url, { redirect: "manual", ...init }) };
}

async function serve(index: Partial<MediaIndex>, content = CONTENT) {
  const given = { ...index };
  const viewing: Viewing = { token: "-", playerId: null, whileAllowed: () => () => {} };
  const { delivery } = deliveryOf(given);
  const { ask } = await listen(delivery, viewing, (res, answer) => void answer.catch(() => res.destroy()), content);
  return { ask, given };
}

test("the original is sent byte for byte, to be saved and never to be shown, and is kept by no shared cache", async () => {
  const { ask } = await serve({ original: ORIGINAL });
  const answer = await ask();
  expect(answer.status).toBe(200);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "content-type": "application/octet-stream",
    "content-disposition": `attachment; filename="_ber uns.html"; filename*=UTF-8''%C3%9Cber%20uns.html`,
    "x-content-type-options": "nosniff",
    "content-length": String(FILE.length),
    "accept-ranges": "bytes",
    "cache-control": "private, max-age=0, must-revalidate",
    etag: '"ab12"',
  });
  expect(Buffer.from(await answer.arrayBuffer()).equals(FILE)).toBe(true);
});

test("the original has ranges, HEAD and an ETag", async () => {
  const { ask } = await serve({ original: ORIGINAL });
  const part = await ask({ headers: { range: "bytes=8-15" } });
  expect([part.status, part.headers.get("content-range"), await part.text()]).toEqual([
    206,
    `bytes 8-15/${FILE.length}`,
    FILE.toString("latin1", 8, 16),
  ]);
  expect(part.headers.get("content-disposition")).toMatch(/^attachment/);
  const head = await ask({ method: "HEAD" });
  expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, String(FILE.length), ""]);
  expect((await ask({ headers: { "if-none-match": '"ab12"' } })).status).toBe(304);
  expect((await ask({ headers: { range: `bytes=${FILE.length}-` } })).status).toBe(416);
});

test("a viewer from whom the original is withheld gets the answer of an asset without one", async () => {
  const withheld = await (await serve({ original: ORIGINAL }, { ...CONTENT, isOriginalWithheld: true })).ask();
  const none = await (await serve({})).ask();
  expect([withheld.status, none.status]).toEqual([404, 404]);
  expect(await withheld.text()).toBe(await none.text());
});

test("the original of an asset that was watched a moment before it was ready is there at once", async () => {
  const { ask, given } = await serve({ isGrowing: true });
  expect((await ask()).status).toBe(404);
  Object.assign(given, { isGrowing: false, original: ORIGINAL });
  expect((await ask()).status).toBe(200);
});

test("a viewer who left before the media was open is neither watched nor counted for ever", async () => {
  const { delivery, index } = deliveryOf({ original: ORIGINAL });
  const opening = Promise.withResolvers<void>();
  index.wait = opening.promise;
  const watched: string[] = [];
  const viewing: Viewing = {
    ...{ token: "-", playerId: null },
    whileAllowed: () => {
      watched.push("begun");
      return () => void watched.push("over");
    },
  };
  const answered = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const { ask } = await listen(delivery, viewing, (res, answer) => {
    res.once("close", left.resolve);
    answer.then(answered.resolve, answered.reject);
  });
  const leaving = new AbortController();
  const asked = ask({ signal: leaving.signal });
  await index.asked;
  leaving.abort();
  await expect(asked).rejects.toThrow();
  await left.promise;
  opening.resolve();
  await answered.promise;
  expect(watched.filter((what) => what === "begun")).toHaveLength(watched.filter((what) => what === "over").length);
});
