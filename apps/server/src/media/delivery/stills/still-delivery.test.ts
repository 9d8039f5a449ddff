import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { recordingPrefix } from "../../../ports/index.ts";
import type { FakeChild } from "../../testing/fake-transcoder.ts";
import { MediaRig, until } from "../../testing/media-rig.ts";

let rig: MediaRig;
beforeEach(async () => {
  rig = await MediaRig.open();
});
afterEach(() => rig[Symbol.asyncDispose]());

const LATEST = "/hls/playstream1/source/latest";
const RECORDING = "/asset/hls/recording1";
const status = async (path: string): Promise<number> => (await rig.fetch(path)).status;

/** Turns of the event loop: what waits for a timer of the clock goes on. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The answers to requests that wait for the clock, each at most 4 s. */
async function answersOf(of: MediaRig, asked: readonly Promise<Response>[]): Promise<readonly Response[]> {
  let isWaiting = true;
  const answers = Promise.all(asked).finally(() => {
    isWaiting = false;
  });
  await until(() => {
    of.clock.advance(1_000);
    return !isWaiting;
  }, "the answers");
  return answers;
}

async function broadcast(seconds: number) {
  const { publication } = rig.publish();
  await rig.send(publication, { seconds });
  return publication;
}

describe("a live stream that viewers go back in", () => {
  const THUMBNAILS = "/hls/playstream1/thumbnails";

  test("has a storyboard that grows, whose pictures keep their addresses when they leave the memory", async () => {
    rig.publishGate.nextStart = { dvrSeconds: 86_400 };
    const publication = await broadcast(5);
    const cues = async () => [
      ...(await rig.text(`${THUMBNAILS}/thumbnails.vtt`)).matchAll(/^(\d+-\S+)\n(\S+) --> (\S+)\n(\S+)$/gm),
    ];
    const [first] = await until(async () => ((await cues()).length > 0 ? cues() : null), "the first picture");
    expect(first?.slice(1)).toEqual([
      expect.stringMatching(/^2030-01-01T00:00:/),
      ...["00:00:00.000", expect.any(String), "s/session-1/1.jpg"],
    ]);
    const picture = await rig.text(`${THUMBNAILS}/s/session-1/1.jpg`);
    expect(picture).toMatch(/^jpeg 160 /);
    for (let at = 5; at < 45; at += 20) await rig.send(publication, { seconds: 20, clockAt: at });
    const later = await until(async () => ((await cues()).length >= 7 ? cues() : null), "more pictures");
    expect(later[0]?.[4]).toBe("s/session-1/1.jpg");
    const starts = later.map(([, , start = ""]) => Number(start.slice(-6)));
    for (const [nth, start] of starts.entries()) expect(Math.abs(start - nth * 5)).toBeLessThanOrEqual(2.1);
    const old = later[1]?.[4];
    expect((await rig.fetch("/hls/playstream1/s/-/session-1/source/3.m4s")).status).toBe(404);
    const onDisk = `/hls/playstream1/s/-/session-1/source/d${/(\d+)\.jpg/.exec(old ?? "")?.[1]}.m4s`;
    await until(async () => (await status(onDisk)) === 200, "the segment on the disk");
    const answer = await rig.fetch(`${THUMBNAILS}/${old}`);
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, expect.stringContaining("immutable")]);
    expect(await status(`${THUMBNAILS}/s/session-2/1.jpg`)).toBe(404);
    expect(await status(`${THUMBNAILS}/s/session-1/9999.jpg`)).toBe(404);
  });

  test("shows none of it to those who may not watch", async () => {
    rig.publishGate.nextStart = { dvrSeconds: 86_400 };
    await broadcast(5);
    rig.playbackGate.policy = "jwt";
    expect(await status(`${THUMBNAILS}/thumbnails.vtt`)).toBe(401);
    expect(await status(`${THUMBNAILS}/s/session-1/1.jpg`)).toBe(401);
  });

  test("has no storyboard without the option", async () => {
    await broadcast(5);
    expect(await status(`${THUMBNAILS}/thumbnails.vtt`)).toBe(404);
    expect(await status(`${THUMBNAILS}/s/session-1/1.jpg`)).toBe(404);
  });
});

describe("a live stream", () => {
  test("its newest keyframe is available in both formats, decoded once per 5 s however many viewers request it", async () => {
    expect(await status(`${LATEST}.jpg`)).toBe(404);
    await broadcast(5);
    const answers = await Promise.all(Array.from({ length: 8 }, () => rig.fetch(`${LATEST}.jpg`)));
    expect(answers[0]?.headers.get("content-type")).toBe("image/jpeg");
    expect(answers[0]?.headers.get("cache-control")).toBe("public, max-age=5");
    const newest = `jpeg 640 ${(2 * 60) & 0xff}`;
    for (const answer of answers) expect(await answer.text()).toBe(newest);
    expect(rig.children.current.stills).toBe(1);
    expect(await rig.text(`${LATEST}.png`)).toMatch(/^png 640/);
    rig.clock.advance(5_001);
    await rig.text(`${LATEST}.jpg`);
    expect(rig.children.current.stills).toBe(3);
    expect(rig.children.taken).toHaveLength(1);
  });

  test("its newest keyframe has the requested width, and 640 for widths that are not offered", async () => {
    await broadcast(5);
    const sizeOf = async (query: string) => (await rig.text(`${LATEST}.jpg${query}`)).split(" ")[1];
    const queries = ["?width=160&turn=1", "?width=320", "?width=1", "?time=1795342077020", ""];
    expect(await Promise.all(queries.map(sizeOf))).toEqual(["160", "320", "640", "640", "640"]);
    expect(rig.children.current.stills).toBe(3);
  });

  test("a child that crashes on a picture fails only that picture; an idle child ends after a minute", async () => {
    await broadcast(3);
    rig.children.mode = "hung";
    const asked = rig.fetch(`${LATEST}.jpg`);
    await until(() => rig.children.taken.length === 1, "a child");
    rig.children.current.die();
    expect((await asked).status).toBe(404);
    rig.children.mode = "working";
    expect(await status(`${LATEST}.png`)).toBe(200);
    expect(rig.children.taken).toHaveLength(2);
    rig.clock.advance(60_001);
    expect(rig.children.current.isKilled).toBe(true);
  });

  test("a child that is slow is kept while its clients are told to retry; one that hangs is replaced by one with twice the time", async () => {
    await broadcast(3);
    rig.children.mode = "hung";
    const slow = async (nth: number): Promise<void> => {
      const asked = rig.fetch(`${LATEST}.jpg`);
      await until(() => rig.children.taken.length === nth, "a child");
      rig.clock.advance(4_001);
      expect((await asked).status).toBe(503);
    };
    await slow(1);
    const [first] = rig.children.taken;
    expect(first?.isKilled).toBe(false);
    rig.clock.advance(6_000);
    expect(first?.isKilled).toBe(true);
    await settled();
    rig.clock.advance(2_000);
    await slow(2);
    rig.clock.advance(15_900);
    expect(rig.children.taken.map(({ isKilled }) => isKilled)).toEqual([true, false]);
    rig.clock.advance(200);
    expect(rig.children.current.isKilled).toBe(true);
  });

  test("a stream keeps its last picture while its child hangs", async () => {
    await broadcast(3);
    const picture = await rig.text(`${LATEST}.jpg`);
    rig.children.current.mode = "hung";
    const sent = vi.spyOn(rig.children.current, "send");
    rig.clock.advance(5_001);
    const asked = rig.fetch(`${LATEST}.jpg`);
    await until(() => sent.mock.calls.length === 1, "the request");
    rig.clock.advance(1_001);
    expect(await (await asked).text()).toBe(picture);
    rig.clock.advance(10_001);
    expect(rig.children.current.isKilled).toBe(true);
    expect(await rig.text(`${LATEST}.jpg`)).toBe(picture);
  });

  test.each<[string, (child: FakeChild) => void]>([
    ["its child dies", (child) => child.die()],
    ["its child says that it cannot go on", (child) => child.fail("no picture")],
    ["its child never answers", () => {}],
  ])("a thumbnail failure does not affect the stream: %s", async (_fault, cause) => {
    const run = async (isAsked: boolean): Promise<string> => {
      await using own = await MediaRig.open();
      own.children.mode = "hung";
      const { publication } = own.publish();
      await own.send(publication, { seconds: 5 });
      const asked = isAsked ? Array.from({ length: 100 }, () => own.fetch(`${LATEST}.png`)) : [];
      if (isAsked) cause(await until(() => own.children.taken[0], "a child"));
      await own.send(publication, { seconds: 5, clockAt: 5 });
      const playlist = await own.text(`${await own.sourceOf("/hls/playstream1/index.m3u8")}/index.m3u8`);
      own.children.mode = "working";
      for (const answer of await answersOf(own, asked)) expect(answer.status).toBeOneOf([200, 404, 503]);
      return playlist;
    };
    const undisturbed = await run(false);
    expect(undisturbed.match(/#EXTINF/g)?.length).toBeGreaterThanOrEqual(4);
    expect(await run(true)).toBe(undisturbed);
  });

  test("a client waiting for 16 images gets 503 for more, and others are not affected", async () => {
    await broadcast(3);
    rig.children.mode = "hung";
    const from = (client: string) => rig.fetch(`${LATEST}.jpg`, { headers: { "x-forwarded-for": client } });
    const asked = Array.from({ length: 17 }, () => from("203.0.113.1"));
    // The images hang, so that the first response is the refusal.
    const refused = await Promise.race(asked);
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    const other = from("203.0.113.2");
    rig.children.current.die();
    const statuses = (await Promise.all([...asked, other])).map((answer) => answer.status);
    expect(statuses.filter((status) => status !== 404)).toEqual([503]);
  });

  test("thumbnails of a gated stream have its access control, and count no viewers", async () => {
    rig.playbackGate.policy = "jwt";
    await broadcast(3);
    expect(await status(`${LATEST}.jpg`)).toBe(401);
    expect(await status(`${LATEST}.jpg?jwt=bad`)).toBe(401);
    const answer = await rig.fetch(`${LATEST}.jpg?jwt=good`);
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "private, max-age=5"]);
    const asks = { headers: { "x-original-uri": `${LATEST}.jpg` } };
    expect((await rig.fetch("/hls/authorize", asks)).status).toBe(401);
    rig.clock.advance(60_000);
    expect(rig.facts.viewerCounts).toEqual([]);
  });
});

describe("a recording", () => {
  async function record(seconds: number): Promise<void> {
    rig.publishGate.nextStart = { sessionId: "session-1", record: true };
    const publication = await broadcast(seconds);
    publication.end("clean-stop", "FCUnpublish");
    await until(() => rig.facts.of("span-sealed").length === 2, "both spans");
  }

  test("a storyboard of single pictures is for players that ignore regions of sheets", async () => {
    await record(9);
    const text = await rig.text(`${RECORDING}/thumbnails/keyframes.vtt?jwt=x`);
    expect(text).toMatch(
      /^WEBVTT\n\n00:00:00\.000 --> 00:00:02\.000\nkeyframes_0\.jpg\?jwt=x\n\n00:00:02\.000 --> 00:00:04\.000\nkeyframes_1\.jpg\?jwt=x\n/,
    );
    expect(await status(`${RECORDING}/thumbnails/keyframes_1.jpg`)).toBe(200);
  });

  test("its storyboard gives the sheet region of each segment's picture", async () => {
    await record(9);
    const answer = await rig.fetch(`${RECORDING}/thumbnails/thumbnails.vtt`);
    expect(answer.headers.get("content-type")).toBe("text/vtt; charset=utf-8");
    const text = await answer.text();
    expect(text).toMatch(
      /^WEBVTT\n\n00:00:00\.000 --> 00:00:02\.000\nstoryboard_0\.jpg#xywh=0,0,160,90\n\n00:00:02\.000 --> 00:00:04\.000\nstoryboard_0\.jpg#xywh=160,0,160,90\n/,
    );
    const etag = answer.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    const again = await rig.fetch(`${RECORDING}/thumbnails/thumbnails.vtt`, { headers: { "if-none-match": etag } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    const pictures = text.match(/#xywh/g)?.length ?? 0;
    const sheet = await rig.fetch(`${RECORDING}/thumbnails/storyboard_0.jpg`);
    expect([sheet.headers.get("content-type"), sheet.headers.get("cache-control")]).toEqual([
      ...["image/jpeg", "public, max-age=31536000, immutable"],
    ]);
    const [size, ...tiles] = (await sheet.text()).split(" ");
    expect([size, tiles.slice(0, 3), tiles.length]).toEqual(["160x90", ["0", "60", "120"], pictures]);
    expect(await status(`${RECORDING}/thumbnails/storyboard_1.jpg`)).toBe(404);
    expect(await status(`${RECORDING}/source/latest.jpg`)).toBe(404);
  });

  test("the thumbnail of an offline stream is the last picture of its recording, for those who may watch the stream", async () => {
    const poster = "/hls/playstream1/thumbnail.jpg";
    expect(await status(poster)).toBe(404);
    await record(9);
    // Players may still be behind the end of the broadcast: the process has it for a while.
    await rig.restart();
    const answer = await rig.fetch(`${poster}?width=1280`);
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "public, max-age=5"]);
    expect(await answer.text()).toBe(await rig.text(`${RECORDING}/thumbnail.jpg?width=1280&time=9`));
    expect(await status(LATEST.concat(".jpg"))).toBe(404);
    // Whoever asks again, long after, has nothing read of a recording that may have lasted for days.
    const reads = vi.spyOn(rig.catalogue, "mediaIndex");
    rig.clock.advance(120_000);
    expect(await status(`${poster}?width=1280`)).toBe(200);
    expect(reads).not.toHaveBeenCalled();
    rig.playbackGate.policy = "jwt";
    rig.plane.accessChanged("all");
    expect(await status(poster)).toBe(401);
    expect(await status(`${poster}?jwt=good`)).toBe(200);
  });

  test("a sheet is made once, across concurrent requests and restarts, and again if it is missing from the store", async () => {
    await record(9);
    const get = () => rig.text(`${RECORDING}/thumbnails/storyboard_0.jpg`);
    const stills = () => rig.children.taken.reduce((sum, child) => sum + child.stills, 0);
    const sheets = await Promise.all(Array.from({ length: 8 }, get));
    const pictures = stills();
    expect([new Set(sheets).size, pictures]).toEqual([1, sheets[0]?.split(" ").slice(1).length]);
    await rig.restart();
    expect(await get()).toBe(sheets[0]);
    expect(stills()).toBe(pictures);
    await rig.store.deletePrefix(`${recordingPrefix("project-1", "session-1")}storyboard/`);
    await rig.restart();
    expect(await get()).toBe(sheets[0]);
    expect(stills()).toBe(2 * pictures);
  });

  test("a child that crashes on a tile fails only that tile; the sheet is not stored, and cached only briefly", async () => {
    await record(9);
    rig.children.mode = "hung";
    const asked = rig.fetch(`${RECORDING}/thumbnails/storyboard_0.jpg`);
    await until(() => rig.children.taken.length === 1, "a child");
    rig.children.mode = "working";
    rig.children.current.die();
    const sheet = await asked;
    expect([sheet.status, sheet.headers.get("cache-control")]).toEqual([200, "public, max-age=5"]);
    expect((await sheet.text()).split(" ").slice(0, 3)).toEqual(["160x90", "0", "60"]);
    await rig.restart();
    const again = await rig.fetch(`${RECORDING}/thumbnails/storyboard_0.jpg`);
    expect(again.headers.get("cache-control")).toContain("immutable");
  });

  test("each picture of a storyboard is available individually", async () => {
    await record(9);
    const image = (nth: number) => rig.text(`${RECORDING}/thumbnails/keyframes_${nth}.jpg`);
    expect([await image(0), await image(2)]).toEqual(["jpeg 640 0", "jpeg 640 120"]);
    expect(await status(`${RECORDING}/thumbnails/keyframes_99.jpg`)).toBe(404);
  });

  test("a thumbnail at a time is the last keyframe before it, in an offered width", async () => {
    await record(9);
    expect(await rig.text(`${RECORDING}/thumbnail.jpg?time=3.9&width=320`)).toBe("jpeg 320 60");
    expect(await rig.text(`${RECORDING}/thumbnail.png?time=4`)).toBe("png 640 120");
    expect(await rig.text(`${RECORDING}/thumbnail.jpg`)).toBe("jpeg 640 120");
    for (const query of ["width=7", "width=99999", "time=-1", "time=1e9", "time="])
      expect(await status(`${RECORDING}/thumbnail.jpg?${query}`)).toBe(400);
  });

  test("the URLs in a gated storyboard contain the credential of its request", async () => {
    await record(5);
    rig.playbackGate.policy = "jwt";
    rig.plane.accessChanged("all");
    expect(await status(`${RECORDING}/thumbnails/thumbnails.vtt`)).toBe(401);
    for (const name of ["keyframes_0", "storyboard_0"])
      expect(await status(`${RECORDING}/thumbnails/${name}.jpg`)).toBe(401);
    const text = await rig.text(`${RECORDING}/thumbnails/thumbnails.vtt?tkn=me&jwt=good`);
    expect(text).toContain("\nstoryboard_0.jpg?jwt=good#xywh=0,0,160,90\n");
    const sheet = await rig.fetch(`${RECORDING}/thumbnails/storyboard_0.jpg?jwt=good`);
    expect([sheet.status, sheet.headers.get("cache-control")]).toEqual([200, "private, max-age=31536000, immutable"]);
  });

  const PREVIEW = `${RECORDING}/animated.webp`;

  test("a preview is made once, from the keyframe before its start to its end", async () => {
    await record(9);
    const query = "start=3&end=5.5&width=160&fps=10";
    const answers = await Promise.all(Array.from({ length: 2 }, () => rig.fetch(`${PREVIEW}?${query}`)));
    const [first] = answers;
    expect([first?.headers.get("content-type"), first?.headers.get("cache-control")]).toEqual([
      ...["image/webp", "public, max-age=31536000, immutable"],
    ]);
    for (const answer of answers) expect(await answer.text()).toBe("160 10 3-5.5 of 2-5.97");
    expect(await rig.text(`${PREVIEW}?${query}`)).toBe("160 10 3-5.5 of 2-5.97");
    expect(rig.children.taken.map(({ isKilled }) => isKilled)).toEqual([true]);
    expect(await rig.text(PREVIEW)).toMatch(/^320 8 0-5 of 0-5\.97$/);
    for (const wrong of ["start=5&end=5", "start=0&end=10.1", "width=1280", "fps=16", "fps=0", "fps=1.5", "start=-1"])
      expect(await status(`${PREVIEW}?${wrong}`)).toBe(400);
    expect(await status("/hls/playstream1/animated.webp")).toBe(404);
  });

  test("concurrent previews are limited per client and in total; one that times out or crashes its child fails", async () => {
    await record(9);
    rig.children.mode = "hung";
    const from = (client: number, start: number) =>
      rig.fetch(`${PREVIEW}?start=${start}&end=9`, { headers: { "x-forwarded-for": `203.0.113.${client}` } });
    const waiting = [from(1, 0), from(1, 1)];
    await until(() => rig.children.taken.length === 2, "two children");
    expect((await from(1, 2)).status).toBe(503);
    const other = from(2, 3);
    rig.children.current.die();
    rig.children.mode = "working";
    await until(() => rig.children.taken.length === 3, "the turn of the third");
    expect((await other).status).toBe(200);
    rig.clock.advance(30_001);
    for (const answer of await Promise.all(waiting)) expect(answer.status).toBe(404);
    expect(rig.children.taken[0]?.isKilled).toBe(true);
  });

  test("a preview of gated content has the same access control", async () => {
    await record(5);
    rig.playbackGate.policy = "jwt";
    rig.plane.accessChanged("all");
    expect(await status(PREVIEW)).toBe(401);
    expect(await status(`${PREVIEW}?jwt=good`)).toBe(200);
  });
});
