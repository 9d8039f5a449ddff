import { afterEach, beforeEach, expect, test } from "vitest";
import { MediaRig, until } from "../../testing/media-rig.ts";

const LIVE = "/hls/playstream1";
const SOURCE = `${LIVE}/s/-/session-1/source`;

interface Stored {
  readonly text: string;
  readonly etag: string | null;
  readonly freshUntilMs: number;
}

/** A shared cache that obeys `Cache-Control` (RFC 9111) and passes queries on, but whose key has none. */
class QueryBlindCache {
  readonly #stored = new Map<string, Stored>();

  async get(address: string): Promise<string> {
    const [path = ""] = address.split("?");
    const stored = this.#stored.get(path);
    if (stored && stored.freshUntilMs > rig.clock.monotonic()) return stored.text;
    const known = stored?.etag ? { "if-none-match": stored.etag } : undefined;
    const answer = await rig.fetch(address, known && { headers: known });
    const isUnchanged = stored && answer.status === 304;
    if (!isUnchanged) expect([address, answer.status]).toEqual([address, 200]);
    const text = isUnchanged ? stored.text : await answer.text();
    const control = answer.headers.get("cache-control") ?? "";
    const seconds = Number((/s-maxage=(\d+)/.exec(control) ?? /max-age=(\d+)/.exec(control))?.[1] ?? 0);
    const freshUntilMs = rig.clock.monotonic() + seconds * 1000;
    const isKept = !/private|no-store/.test(control);
    if (isKept) this.#stored.set(path, { text, etag: answer.headers.get("etag"), freshUntilMs });
    return text;
  }
}

let rig: MediaRig;
let newest: number;
let publication: ReturnType<MediaRig["publish"]>["publication"];
beforeEach(async () => {
  rig = await MediaRig.open();
  rig.publishGate.nextStart = { record: true, dvrSeconds: 86_400 };
  publication = rig.publish().publication;
  await rig.send(publication, { seconds: 5 });
  await until(async () => (await rig.fetch(`${SOURCE}/dvr.m3u8`)).status === 200, "a list that goes back");
  await rig.send(publication, { seconds: 40, clockAt: 5 });
  newest = Number((await rig.text(`${SOURCE}/dvr.m3u8`)).match(/(?<=^d)\d+(?=\.m4s$)/gm)?.at(-1));
});
afterEach(() => rig[Symbol.asyncDispose]());

test("after the delta update of one viewer, viewers behind the same cache get whole lists", async () => {
  for (const waits of ["", `_HLS_msn=${newest}&`, `_HLS_msn=${newest}&_HLS_part=1&`]) {
    const cache = new QueryBlindCache();
    expect(await cache.get(`${SOURCE}/dvr.m3u8?${waits}_HLS_skip=YES`)).toContain("#EXT-X-SKIP:");
    for (const query of ["", "?tkn=other", `?_HLS_msn=${newest}`]) {
      const list = await cache.get(`${SOURCE}/dvr.m3u8${query}`);
      expect(list).not.toContain("#EXT-X-SKIP:");
      expect(list).toMatch(/#EXTINF.*\nd1\.m4s\n/);
    }
    // What it keeps for four seconds is whole, and right for a viewer who has most of it.
    expect(await cache.get(`${SOURCE}/dvr.m3u8?_HLS_skip=YES`)).toMatch(/#EXTINF.*\nd1\.m4s\n/);
  }
});

test.each(["dvr-iframes.m3u8", "dvr.m3u8", "index.m3u8"])(
  "an unchanged %s is known again by its ETag or read again, as it was",
  async (file) => {
    const cache = new QueryBlindCache();
    const before = await cache.get(`${SOURCE}/${file}`);
    await cache.get(`${SOURCE}/dvr.m3u8?_HLS_skip=YES`);
    expect(await cache.get(`${SOURCE}/${file}?tkn=other`)).toBe(before);
  },
);

test("viewers of the live edge and viewers who go back get their own multivariant playlists, whoever asks first", async () => {
  for (const queries of [
    ["?dvr=1", "", "?dvr=1"],
    ["", "?dvr=1", "?tkn=other"],
  ]) {
    const cache = new QueryBlindCache();
    for (const query of queries) {
      const list = await cache.get(`${LIVE}/index.m3u8${query}`);
      expect(list).toContain(query === "?dvr=1" ? "/source/dvr.m3u8" : "/source/index.m3u8");
      expect(list).not.toContain(query === "?dvr=1" ? "/source/index.m3u8" : "/source/dvr.m3u8");
    }
  }
});

test("a list of the live edge that was waited for is everybody's for four seconds: older, and whole", async () => {
  const cache = new QueryBlindCache();
  const waited = await cache.get(`${SOURCE}/index.m3u8?_HLS_msn=${newest}&_HLS_part=1`);
  await rig.send(publication, { seconds: 3, clockAt: 45 });
  expect(await cache.get(`${SOURCE}/index.m3u8`)).toBe(waited);
  rig.clock.advance(1_100);
  const list = await cache.get(`${SOURCE}/index.m3u8`);
  expect(list).not.toBe(waited);
  expect(list).toBe(await rig.text(`${SOURCE}/index.m3u8`));
});
