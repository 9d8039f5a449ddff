import { expect, it } from "vitest";
import { ended, kit, pass, publish, segment, setUpLiveRig, stream, tell } from "./live-test-rig.ts";

setUpLiveRig();

const set = (body: object) => kit.call("PATCH", `/api/stream/${stream.id}`, body);
const dvrPlayback = async () =>
  (await kit.call("GET", `/api/playback/${stream.playbackId}?recordings=true`)).json().meta.dvrPlayback;

it.each([
  [30, 30 * 60],
  [1_440, 24 * 3_600],
  ["session", 24 * 3_600],
])("viewers can go back %j in the next session", async (dvr, seconds) => {
  expect((await set({ dvr })).statusCode).toBe(204);
  expect((await kit.call("GET", `/api/stream/${stream.id}`)).json()).toMatchObject({ dvr });
  expect((await publish()).start.dvrSeconds).toBe(seconds);
  const url = `http://weir.test/hls/${stream.playbackId}/index.m3u8?dvr=1`;
  expect(await dvrPlayback()).toEqual([{ hrn: "HLS (TS)", type: "html5/application/vnd.apple.mpegurl", url }]);
});

it("a session keeps what applied when it began; without the option there is a sentence", async () => {
  const { grant, start } = await publish();
  expect(await dvrPlayback()).toEqual([{ error: expect.stringContaining("set `dvr` of the stream") }]);
  await set({ dvr: "session" });
  await tell(kit.domains, segment(grant, start.sessionId, 1), ended(grant, "source-lost"));
  expect((await publish()).start.dvrSeconds).toBeNull();
});

it("an ended session can be gone back in by its stream alone, once its recording is ready", async () => {
  await set({ dvr: 5 });
  const { grant, start } = await publish();
  const { mediaCatalogue } = kit.domains;
  await tell(kit.domains, segment(grant, start.sessionId, 1));
  expect(await mediaCatalogue.dvrRecording(stream.id, start.sessionId)).toBeNull();
  await kit.db.updateTable("session").set({ recording: "ready" }).where("id", "=", start.sessionId).execute();
  await pass(2_000);
  const found = { dvrSeconds: 300, content: expect.objectContaining({ kind: "recording", id: start.sessionId }) };
  expect(await mediaCatalogue.dvrRecording(stream.id, start.sessionId)).toEqual(found);
  expect(await mediaCatalogue.dvrRecording(stream.id, null)).toEqual(found);
  expect(await mediaCatalogue.dvrRecording(start.sessionId, start.sessionId)).toBeNull();
  expect(await mediaCatalogue.dvrRecording(stream.id, "no-id")).toBeNull();
});

it("a session that is not recorded keeps all its renditions for those who go back", async () => {
  const profiles = [{ name: "low", width: 640, height: 360, bitrate: 500_000, fps: 0 }];
  expect((await set({ dvr: 5, record: false, profiles })).statusCode).toBe(204);
  const { start } = await publish();
  expect(start).toMatchObject({ record: false, dvrSeconds: 300, recordedProfiles: ["low"] });
  const url = `http://weir.test/hls/${stream.playbackId}/index.m3u8?dvr=1`;
  expect(await dvrPlayback()).toEqual([{ hrn: "HLS (TS)", type: "html5/application/vnd.apple.mpegurl", url }]);
});

it("dvr is off again with null, with or without record", async () => {
  await set({ dvr: 5, record: false });
  expect((await set({ record: false, dvr: null })).statusCode).toBe(204);
  expect((await kit.call("GET", `/api/stream/${stream.id}`)).json()).not.toHaveProperty("dvr");
});
