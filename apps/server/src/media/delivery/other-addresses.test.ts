import { afterEach, beforeEach, expect, test } from "vitest";
import { MediaRig, until } from "../testing/media-rig.ts";

let rig: MediaRig;
beforeEach(async () => {
  rig = await MediaRig.open();
});
afterEach(() => rig[Symbol.asyncDispose]());

async function broadcast(record: boolean) {
  rig.publishGate.nextStart = { record };
  const { publication } = rig.publish();
  await rig.send(publication, { seconds: 5 });
  return publication;
}

async function recorded(): Promise<void> {
  (await broadcast(true)).end("clean-stop", "FCUnpublish");
  await until(() => rig.facts.of("span-sealed").length === 2, "both spans");
}

async function redirect(path: string, headers: Record<string, string> = {}) {
  const answer = await rig.fetch(path, { redirect: "manual", headers });
  return [answer.status, answer.headers.get("location"), answer.headers.get("access-control-allow-origin")];
}

test("a live stream also plays at video+{playbackId}, with the same access control", async () => {
  await broadcast(false);
  expect(await redirect("/hls/video+playstream1/index.m3u8?tkn=one")).toEqual([
    307,
    "../playstream1/index.m3u8?tkn=one",
    "*",
  ]);
  const playlist = await rig.text("/hls/playstream1/index.m3u8?tkn=one");
  expect(await rig.text("/hls/video+playstream1/index.m3u8?tkn=one")).toBe(playlist);
  rig.playbackGate.policy = "jwt";
  rig.plane.accessChanged("all");
  expect((await rig.fetch("/hls/video+playstream1/index.m3u8")).status).toBe(401);
  expect((await rig.fetch("/hls/video+playstream1/index.m3u8?jwt=good")).status).toBe(200);
});

test("a recording also plays by its session's id, with the same access control", async () => {
  await recorded();
  expect(await rig.text("/recordings/session-1/index.m3u8")).toBe(await rig.text("/asset/hls/recording1/index.m3u8"));
  expect((await rig.bytes("/recordings/session-1/source.mp4")).subarray(4, 8).toString()).toBe("ftyp");
  rig.playbackGate.policy = "jwt";
  rig.plane.accessChanged("all");
  expect((await rig.fetch("/recordings/session-1/index.m3u8")).status).toBe(401);
  expect((await rig.fetch("/recordings/session-1/source.mp4?jwt=good")).status).toBe(200);
});

test.each([
  "/hls/video+playstream1/s/-/session-1/source/index.m3u8",
  "/hls/video+video+playstream1/index.m3u8",
  "/hls/video%2Bplaystream1/index.m3u8",
  "/recordings/session-1/other.mp4",
  "/recordings/session-2/index.m3u8",
  "/recordings/session-1/s/-/session-1/source/index.m3u8",
  "/recordings/",
])("%s is not redirected", async (path) => {
  await recorded();
  expect(await redirect(path)).toEqual([404, null, "*"]);
});

test("a client that guesses session ids is rate-limited; others are not", async () => {
  const from = (address: string) => ({ "x-forwarded-for": address });
  for (let n = 0; n < 65; n++) await redirect(`/recordings/nothing-${n}/index.m3u8`, from("203.0.113.1"));
  expect((await redirect("/recordings/session-1/index.m3u8", from("203.0.113.1")))[0]).toBe(429);
  expect((await redirect("/recordings/session-1/index.m3u8", from("203.0.113.2")))[0]).toBe(307);
});
