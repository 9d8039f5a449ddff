import { afterEach, beforeEach, expect, test } from "vitest";
import { MediaRig, until } from "../../testing/media-rig.ts";

const LIVE = "/hls/playstream1";
const SOURCE = `${LIVE}/s/-/session-1/source`;

let rig: MediaRig;
let publication: ReturnType<MediaRig["publish"]>["publication"];
beforeEach(async () => {
  rig = await MediaRig.open();
  rig.publishGate.nextStart = { record: true, dvrSeconds: 86_400 };
  publication = rig.publish().publication;
  await rig.send(publication, { seconds: 5 });
  await until(async () => (await rig.fetch(`${SOURCE}/dvr.m3u8`)).status === 200, "a list that goes back");
  await rig.send(publication, { seconds: 20, clockAt: 5 });
});
afterEach(() => rig[Symbol.asyncDispose]());

test.each([
  ...["d..m4s", "d1..m4s", "../source/d1.m4s", "%64%31.m4s", "d%31.m4s", "d1.m4s%00", "d1.m4s/", "D1.m4s", "d-1.m4s"],
  ...["d1e3.m4s", "d1.5.m4s", `d${"9".repeat(40)}.m4s`, "d99999.m4s", "dvr.m3u8/", "dvr", "dvr.m3u8%3F", "d01.m4s.m4s"],
])("%s names nothing", async (file) => {
  // As it is: fetch would tidy the path.
  const path = `${SOURCE}/${file}`;
  expect((await rig.raw(path)).status).toBe(404);
});

test("one range of a segment is served, and nothing of what is none", async () => {
  const whole = await rig.bytes(`${SOURCE}/d1.m4s`);
  const ask = async (range: string) => {
    const answer = await rig.fetch(`${SOURCE}/d1.m4s`, { headers: { range } });
    return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) };
  };
  expect(await ask("bytes=0-")).toEqual({ status: 206, bytes: whole });
  expect(await ask("bytes=-1")).toEqual({ status: 206, bytes: whole.subarray(-1) });
  expect((await ask(`bytes=${10 ** 20}-`)).status).toBe(416);
  for (const range of ["bytes=5-4", `bytes=${Array.from({ length: 1_000 }, (_, n) => `${n}-${n}`).join(",")}`]) {
    const { status, bytes } = await ask(range);
    expect([200, 416]).toContain(status);
    if (status === 200) expect(bytes.equals(whole)).toBe(true);
  }
});

test.each([
  ...["_HLS_msn=999999", "_HLS_msn=-1", "_HLS_msn=NaN", "_HLS_msn=1&_HLS_msn=2", "_HLS_part=1", "_HLS_msn=1e3"],
  ...["_HLS_skip=yes", "_HLS_skip=", "_hls_skip=YES", "_HLS_skip=v2&_HLS_skip=v2"],
])("a list is not made for ?%s", async (query) => {
  expect((await rig.fetch(`${SOURCE}/dvr.m3u8?${query}`)).status).toBe(400);
});

test("addresses do not come from what a request calls the server", async () => {
  const forged = { "x-forwarded-host": "evil.example", forwarded: "host=evil.example" };
  for (const path of [`${LIVE}/index.m3u8?dvr=1`, `${SOURCE}/dvr.m3u8`]) {
    const answer = await rig.fetch(path, { headers: forged });
    expect(await answer.text()).not.toMatch(/evil\.example|https?:/);
    expect(answer.headers.get("content-type")).toBe("application/vnd.apple.mpegurl");
  }
});

test("no cache keeps for others what one viewer was admitted to by a header", async () => {
  rig.playbackGate.policy = "jwt";
  rig.plane.accessChanged("all");
  const headers = { "livepeer-jwt": "good" };
  for (const path of [
    `${LIVE}/index.m3u8?dvr=1`,
    `${SOURCE}/dvr.m3u8`,
    `${SOURCE}/dvr.m3u8?_HLS_skip=YES`,
    `${SOURCE}/d1.m4s`,
  ]) {
    expect((await rig.fetch(path)).status).toBe(401);
    const admitted = await rig.fetch(path, { headers });
    expect([path, admitted.headers.get("cache-control")]).toEqual([path, expect.stringMatching(/^private/)]);
    expect((await rig.fetch(path)).headers.get("cache-control")).toMatch(/^private, no-store$/);
  }
});

test("what one site may show is not for another, and no answer allows credentials", async () => {
  rig.playbackGate.origins = ["https://example.com"];
  rig.plane.accessChanged("all");
  for (const path of [
    `${LIVE}/index.m3u8?dvr=1`,
    `${SOURCE}/dvr.m3u8`,
    `${SOURCE}/dvr-iframes.m3u8`,
    `${SOURCE}/d1.m4s`,
  ]) {
    const from = (origin: string) => rig.fetch(path, { headers: { origin } });
    for (const origin of ["null", "https://evil-example.com", "https://example.com.evil.test"])
      expect([path, origin, (await from(origin)).status]).toEqual([path, origin, 401]);
    const { status, headers } = await from("https://example.com");
    expect([path, status, headers.get("cache-control")]).toEqual([path, 200, expect.stringMatching(/^private/)]);
    expect(headers.get("access-control-allow-credentials")).toBe(null);
  }
});

test("a client that never skips has the whole list each time, also right after the delta update of another", async () => {
  const lists = [];
  for (const query of ["", "?_HLS_skip=YES", "", "?_HLS_skip=v2", "?dvr=1"]) {
    const answer = await rig.fetch(`${SOURCE}/dvr.m3u8${query}`);
    lists.push({ text: await answer.text(), vary: answer.headers.get("vary") });
  }
  const [first, delta, second, other, third] = lists.map(({ text }) => text);
  expect(delta).toMatch(/#EXT-X-VERSION:9\n(?:.*\n)*#EXT-X-SKIP:SKIPPED-SEGMENTS=[1-9]/);
  expect(other).toBe(delta);
  expect([second, third]).toEqual([first, first]);
  expect(first).not.toContain("#EXT-X-SKIP");
  expect(first).toContain("#EXT-X-VERSION:6\n");
  for (const { vary } of lists) expect(vary?.toLowerCase()).toContain("accept-encoding");
});

test("who goes back is a viewer as any other, counted once", async () => {
  rig.clock.advance(10_000);
  rig.facts.viewerCounts.splice(0);
  const headers = { "x-forwarded-for": "203.0.113.9" };
  for (const path of [
    `${LIVE}/index.m3u8?dvr=1`,
    `${SOURCE}/dvr.m3u8`,
    `${SOURCE}/d1.m4s`,
    `${SOURCE}/d2.m4s`,
    `${SOURCE}/index.m3u8`,
  ])
    await rig.bytes(path, { headers });
  rig.clock.advance(10_000);
  const counts = rig.facts.viewerCounts.filter(({ begun }) => begun > 0);
  expect(counts).toMatchObject([{ playbackId: "playstream1", begun: 1 }]);
});

test("a token that expires while its viewer is back in the stream ends all of it, also after the end of the stream", async () => {
  rig.playbackGate.policy = "jwt";
  rig.playbackGate.expiresAt = rig.clock.now() + 30_000;
  rig.plane.accessChanged("all");
  const list = /^s\/.+\/source\/dvr\.m3u8$/m.exec(await rig.text(`${LIVE}/index.m3u8?dvr=1&jwt=good`))?.[0];
  const own = `${LIVE}/${list?.replace("/dvr.m3u8", "")}`;
  const files = ["dvr.m3u8", "dvr.m3u8?_HLS_skip=YES", "dvr-iframes.m3u8", "d1.m4s", "d2.m4s"];
  const init = /MAP:URI="(.+)"/.exec(await rig.text(`${own}/dvr.m3u8`))?.[1] ?? "";
  const statuses = () => Promise.all([...files, init].map(async (file) => (await rig.fetch(`${own}/${file}`)).status));
  expect(new Set(await statuses())).toEqual(new Set([200]));
  rig.clock.advance(31_000);
  expect(new Set(await statuses())).toEqual(new Set([401]));
  publication.end("clean-stop", "the end");
  await rig.plane.drain();
  rig.clock.advance(61_000);
  expect(new Set(await statuses())).toEqual(new Set([401]));
});

test("while the source is lost viewers seek, and reloads neither hang nor spin; when it never returns the list ends", async () => {
  publication.end("source-lost", "no packets for 5 s");
  const list = await rig.text(`${SOURCE}/dvr.m3u8`);
  const next = Number(list.match(/(?<=^d)\d+(?=\.m4s$)/gm)?.at(-1)) + 1;
  for (const query of [`_HLS_msn=${next}&_HLS_part=0&_HLS_skip=YES`, `_HLS_msn=${next}`]) {
    let answered = false;
    const reload = rig.text(`${SOURCE}/dvr.m3u8?${query}`).then((text) => {
      answered = true;
      return text;
    });
    await until(() => rig.plane.figures.waitingRequests === 1, "the reload to wait");
    expect((await rig.bytes(`${SOURCE}/d1.m4s`)).byteLength).toBeGreaterThan(0);
    expect(answered).toBe(false);
    rig.clock.advance(2_500);
    expect(await reload).not.toContain("ENDLIST");
  }
  // Longer than the reconnect window.
  for (let seconds = 0; seconds < 40; seconds++) rig.clock.advance(1_000);
  expect(await until(async () => (await rig.text(`${SOURCE}/dvr.m3u8`)).includes("ENDLIST"), "the end")).toBe(true);
  expect((await rig.bytes(`${SOURCE}/d1.m4s`)).byteLength).toBeGreaterThan(0);
});

test("a live list and a multivariant have no delta updates, and a stranger who asks for one gets the whole", async () => {
  for (const path of [`${SOURCE}/index.m3u8?`, `${LIVE}/index.m3u8?`, `${LIVE}/index.m3u8?dvr=1&`])
    for (const skip of ["YES", "v2", "no"]) {
      const text = await rig.text(`${path}_HLS_skip=${skip}`);
      expect(text).toContain("#EXTM3U");
      expect(text).not.toMatch(/EXT-X-SKIP|CAN-SKIP/);
    }
});

test("a range of a playlist is the whole of it: lists change under the reader", async () => {
  await expect.poll(() => rig.text(`${SOURCE}/dvr-iframes.m3u8`)).toContain("d5.m4s");
  for (const file of ["dvr.m3u8", "dvr-iframes.m3u8"]) {
    const before = await rig.text(`${SOURCE}/${file}`);
    const answer = await rig.fetch(`${SOURCE}/${file}`, { headers: { range: "bytes=0-9" } });
    expect([file, answer.status]).toEqual([file, 200]);
    // A segment's keyframe is listed once the segment is written, which may be meanwhile.
    expect([before, await rig.text(`${SOURCE}/${file}`)]).toContain(await answer.text());
  }
});
