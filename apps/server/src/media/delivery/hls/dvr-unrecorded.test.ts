import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { MediaRig, until } from "../../testing/media-rig.ts";

const LIVE = "/hls/playstream1";
const SOURCE = `${LIVE}/s/-/session-1/source`;
const WINDOW_SECONDS = 60;

let rig: MediaRig;
let folder: string;
beforeEach(async () => {
  rig = await MediaRig.open();
  rig.publishGate.nextStart = { sessionId: "session-1", dvrSeconds: WINDOW_SECONDS };
  folder = join(rig.folder, "dvr", "session-1");
});
afterEach(() => rig[Symbol.asyncDispose]());

const namesIn = (text: string): readonly string[] => text.match(/^d\d+\.m4s$/gm) ?? [];
const facts = () => rig.facts.of("segment-closed");

/** In pieces, as the disk is slower than the clock of a test. */
async function broadcast(
  from: number,
  to: number,
  publication: ReturnType<MediaRig["publish"]>["publication"] = rig.publish().publication,
) {
  for (let at = from; at < to; ) {
    const seconds = Math.min(at === 0 ? 5 : 20, to - at);
    const known = facts().length;
    await rig.send(publication, { seconds, ...(at > 0 && { clockAt: at }) });
    await until(() => facts().length >= known + Math.floor(seconds / 2) - 1, "facts of what was kept");
    at += seconds;
  }
  return publication;
}

test("viewers of a stream that does not record go back; nothing of it reaches the database or the object store", async () => {
  const published = await broadcast(0, 5);
  await until(async () => (await rig.fetch(`${SOURCE}/d1.m4s`)).status === 200, "the first segment");
  const early = await rig.bytes(`${SOURCE}/d1.m4s`);
  await broadcast(5, 45, published);
  const list = await rig.text(`${SOURCE}/dvr.m3u8`);
  expect(namesIn(list)[0]).toBe("d1.m4s");
  expect((await rig.fetch(`${SOURCE}/1.m4s`)).status).toBe(404);
  expect((await rig.bytes(`${SOURCE}/d1.m4s`)).equals(early)).toBe(true);
  expect(facts().flatMap(({ recorded }) => recorded)).toEqual([]);
  expect(readdirSync(join(rig.folder, "objects"), { recursive: true })).toEqual(["unfinished"]);
  expect(readdirSync(join(rig.folder, "spool"))).toEqual([]);
});

test("what left the window is deleted a chapter at a time, and all of it when the session is over", async () => {
  const published = await broadcast(0, 300);
  const list = await rig.text(`${SOURCE}/dvr.m3u8`);
  const [first = ""] = namesIn(list);
  expect((await rig.fetch(`${SOURCE}/${first}`)).status).toBe(200);
  // Who has just read the list may ask for what left it.
  const before = `d${Number(first.slice(1, -4)) - 20}.m4s`;
  expect((await rig.fetch(`${SOURCE}/${before}`)).status).toBe(200);
  await until(async () => (await rig.fetch(`${SOURCE}/d1.m4s`)).status === 404, "the first segment to be gone");
  expect(readdirSync(folder).length).toBeLessThanOrEqual(Math.ceil((2 * WINDOW_SECONDS) / 30) + 2);
  published.end("clean-stop", "the end");
  expect(await until(async () => (await rig.text(`${SOURCE}/dvr.m3u8`)).includes("ENDLIST"), "the end")).toBe(true);
  expect((await rig.fetch(`${SOURCE}/${first}`)).status).toBe(200);
  await rig.plane.drain();
  await until(() => {
    rig.clock.advance(61_000);
    return readdirSync(join(rig.folder, "dvr")).length === 0;
  }, "an empty folder");
  expect((await rig.fetch(`${SOURCE}/dvr.m3u8`)).status).toBe(404);
});

test("after a kill the session goes on with what was before; a session that does not come back is deleted", async () => {
  await broadcast(0, 25);
  const early = await rig.bytes(`${SOURCE}/d1.m4s`);
  await rig.restart();
  rig.publishGate.nextStart = {
    ...{ sessionId: "session-1", dvrSeconds: WINDOW_SECONDS },
    resume: {
      ...{ nextMsn: 30, discontinuitySequence: 0, endTicks: 40 * 90_000 },
      ...{ targetDuration: 4, neededTargetDuration: 4, sound: null },
    },
  };
  await broadcast(0, 5);
  const hasResumed = async () => namesIn(await rig.text(`${SOURCE}/dvr.m3u8`)).includes("d31.m4s");
  await until(hasResumed, "the list of the resumed session");
  expect(namesIn(await rig.text(`${SOURCE}/dvr.m3u8`))[0]).toBe("d1.m4s");
  expect((await rig.bytes(`${SOURCE}/d1.m4s`)).equals(early)).toBe(true);

  await rig.restart();
  rig.clock.advance(61_000);
  expect(readdirSync(folder).length).toBeGreaterThan(1);
  await until(() => {
    rig.clock.advance(30_000);
    return readdirSync(join(rig.folder, "dvr")).length === 0;
  }, "an empty folder");
});

test("without room on the disk the stream plays on, and its oldest stays", async () => {
  const published = await broadcast(0, 20);
  rig.spoolFreeBytes = 1;
  await broadcast(20, 60, published);
  expect((await rig.fetch(`${SOURCE}/d1.m4s`)).status).toBe(200);
  expect((await rig.fetch(`${SOURCE}/index.m3u8`)).status).toBe(200);
  expect(rig.facts.of("recording-failed")).toEqual([]);
});

const breaksIn = (text: string): number => Number(/^#EXT-X-DISCONTINUITY-SEQUENCE:(\d+)$/m.exec(text)?.[1] ?? 0);

test("the discontinuity sequence does not fall after a kill, although what had the discontinuities is deleted", async () => {
  await broadcast(0, 5);
  // Its pictures go, and come back.
  await rig.send(rig.publish().publication, { seconds: 6, video: false });
  await broadcast(5, 300);
  await until(async () => (await rig.fetch(`${SOURCE}/d1.m4s`)).status === 404, "the first segment to be gone");
  const before = breaksIn(await rig.text(`${SOURCE}/dvr.m3u8`));
  expect(before).toBeGreaterThan(0);
  const nextMsn = Math.max(...facts().map(({ position }) => position.nextMsn)) + 2;
  await rig.restart();
  rig.publishGate.nextStart = {
    ...{ sessionId: "session-1", dvrSeconds: WINDOW_SECONDS },
    resume: {
      ...{ nextMsn, discontinuitySequence: before, endTicks: 400 * 90_000 },
      ...{ targetDuration: 2, neededTargetDuration: 2, sound: null },
    },
  };
  await broadcast(0, 5);
  const hasResumed = async () => namesIn(await rig.text(`${SOURCE}/dvr.m3u8`)).includes(`d${nextMsn}.m4s`);
  await until(hasResumed, "the list of the resumed session");
  expect(breaksIn(await rig.text(`${SOURCE}/dvr.m3u8`))).toBeGreaterThanOrEqual(before);
});

test("a segment that was lost with the process has no other content afterwards: its name answers what it was, or nothing", async () => {
  rig.publishGate.nextStart = { sessionId: "session-1", dvrSeconds: 600, record: true };
  const { publication } = rig.publish();
  await rig.send(publication, { seconds: 5 });
  await until(async () => (await rig.fetch(`${SOURCE}/dvr.m3u8`)).status === 200, "the list");
  // What follows is not recorded.
  rig.spoolFreeBytes = 1;
  await rig.send(publication, { seconds: 8, clockAt: 5 });
  const lost = await rig.fetch(`${SOURCE}/d5.m4s`);
  expect([lost.status, lost.headers.get("cache-control")]).toEqual([200, expect.stringContaining("immutable")]);
  rig.spoolFreeBytes = 2 ** 40;
  await rig.restart();
  rig.publishGate.nextStart = {
    ...{ sessionId: "session-1", dvrSeconds: 600, record: true },
    resume: {
      ...{ nextMsn: 30, discontinuitySequence: 0, endTicks: 40 * 90_000 },
      ...{ targetDuration: 2, neededTargetDuration: 2, sound: null },
    },
  };
  await rig.send(rig.publish().publication, { seconds: 5 });
  await until(
    async () => (await rig.text(`${SOURCE}/dvr.m3u8`)).includes("d31.m4s"),
    "the list of the resumed session",
  );
  expect(await rig.text(`${SOURCE}/dvr.m3u8`)).toMatch(/#EXT-X-GAP\n#EXTINF:[\d.]+,\nd5\.m4s/);
  const after = await rig.fetch(`${SOURCE}/d5.m4s`);
  expect([after.status, after.headers.get("cache-control")]).toEqual([404, "private, no-store"]);
});
