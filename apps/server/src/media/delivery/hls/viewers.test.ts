import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MediaRig, until } from "../../testing/media-rig.ts";

let rig: MediaRig;
beforeEach(async () => {
  rig = await MediaRig.open();
  rig.playbackGate.policy = "jwt";
});
afterEach(() => rig[Symbol.asyncDispose]());

const LIVE = "/hls/playstream1";
const RECORDING = "/asset/hls/recording1";

async function broadcast(seconds = 5, record = false) {
  rig.publishGate.nextStart = { record };
  const { publication } = rig.publish();
  await rig.send(publication, { seconds });
  return publication;
}

/** A short recording. */
async function recorded(): Promise<void> {
  const publication = await broadcast(5, true);
  publication.end("clean-stop", "FCUnpublish");
  await until(() => rig.facts.of("span-sealed").length === 2, "both spans");
}

const status = async (path: string, headers: Record<string, string> = {}) =>
  (await rig.fetch(path, { headers })).status;

describe("viewers", () => {
  const told = () => {
    rig.clock.advance(10_000);
    return rig.facts.viewerCounts.splice(0);
  };
  const from = (address: string) => ({ "x-forwarded-for": address });

  test("of gated content are counted by session", async () => {
    await broadcast();
    const [one, other] = [
      await rig.sourceOf(`${LIVE}/index.m3u8?jwt=good`),
      await rig.sourceOf(`${LIVE}/index.m3u8?jwt=good`),
    ];
    await rig.bytes(`${one}/1.m4s`);
    await rig.bytes(`${other}/1.m4s`);
    const [count] = told();
    expect(count).toMatchObject({ playbackId: "playstream1", now: 2, begun: 2 });
    expect(new Set(count?.newViewers).size).toBe(2);
  });

  test("of public content are counted by address and user agent, or by the player's own id", async () => {
    await broadcast();
    rig.playbackGate.policy = "public";
    for (const [path, headers] of [
      ["/index.m3u8", from("203.0.113.1")],
      ["/s/-/session-1/source/index.m3u8", from("203.0.113.1")],
      ["/s/-/session-1/source/1.m4s", from("203.0.113.1")],
      ["/index.m3u8", { ...from("203.0.113.1"), "user-agent": "another" }],
      ["/index.m3u8", from("203.0.113.2")],
      ["/index.m3u8?tkn=one", from("203.0.113.3")],
      ["/s/-/session-1/source/index.m3u8?tkn=one", from("203.0.113.3")],
      ["/index.m3u8?tkn=two", from("203.0.113.3")],
      ["/s/-/session-1/source/1.m4s", from("203.0.113.4")],
    ] as const)
      await rig.bytes(`${LIVE}${path}`, { headers });
    expect(told()).toMatchObject([{ playbackId: "playstream1", now: 5, begun: 5 }]);
  });

  test("keep their player's own id in the URLs of public playlists", async () => {
    await broadcast();
    rig.playbackGate.policy = "public";
    expect(await rig.text(`${LIVE}/index.m3u8?tkn=abc-1_2`)).toContain("/source/index.m3u8?tkn=abc-1_2\n");
    expect(await rig.text(`${LIVE}/index.m3u8?tkn=%22%0a`)).toContain("/source/index.m3u8\n");
  });

  test("that only fetch segments of a recording stay counted", async () => {
    await recorded();
    rig.playbackGate.policy = "public";
    const source = await rig.sourceOf(`${RECORDING}/index.m3u8`);
    const span = /^\S+\.m4s$/m.exec(await rig.text(`${source}/index.m3u8`))?.[0];
    for (let at = 0; at < 60; at += 20) {
      rig.clock.advance(20_000);
      await rig.bytes(`${source}/${span}`, { headers: { range: "bytes=0-9" } });
    }
    expect(rig.facts.viewerCounts.every(({ now }) => now === 1)).toBe(true);
    expect(rig.facts.viewerCounts.reduce((sum, { watchedMs }) => sum + watchedMs, 0)).toBe(40_000);
  });

  test("of a stream that is pulled only while watched have it pulled; probes and its owner do not, nor do they while it is live", async () => {
    const { playbackGate } = rig;
    playbackGate.policy = "public";
    const path = "/hls/playstream1/index.m3u8";
    expect(await rig.text(path)).toContain("offline");
    expect(playbackGate.wanted).toEqual([]);
    playbackGate.onlyWhileWatched = true;
    rig.plane.accessChanged("playstream1");
    await rig.fetch(path, { method: "HEAD" });
    expect(await rig.text(`${path}?jwt=owner.good`)).toContain("offline");
    expect(playbackGate.wanted).toEqual([]);
    expect(await rig.text(path)).toContain("offline");
    expect(await rig.text(`${path}?dvr=1`)).toContain("offline");
    expect(playbackGate.wanted).toEqual(["stream-1", "stream-1"]);
    const { publication } = rig.publish();
    await rig.send(publication, { seconds: 5 });
    expect(await rig.text(path)).toContain("EXT-X-STREAM-INF");
    expect(playbackGate.wanted).toHaveLength(2);
  });

  test("are not counted for offline content or HEAD requests", async () => {
    rig.playbackGate.policy = "public";
    await rig.text(`${LIVE}/index.m3u8`);
    await broadcast(3);
    await rig.fetch(`${LIVE}/index.m3u8`, { method: "HEAD" });
    expect(told()).toEqual([]);
  });

  test.each(["public", "jwt"] as const)(
    "of %s content cannot join when it is full, and can continue",
    async (policy) => {
      await broadcast();
      rig.playbackGate.policy = policy;
      const query = policy === "jwt" ? "?jwt=good" : "";
      const headers = from("203.0.113.1");
      const source = await rig.sourceOf(`${LIVE}/index.m3u8${query}`, headers);
      rig.playbackGate.isFull = true;
      rig.plane.accessChanged("all");
      const refused = await rig.fetch(`${LIVE}/index.m3u8${query}`, { headers: from("203.0.113.2") });
      expect([refused.status, await refused.text()]).toEqual([401, expect.stringContaining("#EXT-X-ERROR")]);
      expect(await status(`${source}/index.m3u8`, headers)).toBe(200);
      expect(await status(`${LIVE}/index.m3u8${query}`, headers)).toBe(200);
    },
  );
});
