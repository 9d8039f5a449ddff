import { sql } from "kysely";
import { expect, it } from "vitest";
import type { SealedSegments } from "../ports/index.ts";
import { ended, kit, pass, publish, sealed, segment, setUpLiveRig, stream, tell } from "./live-test-rig.ts";

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

it("the segments of half a day are read 250 at a time, those of a rung with its gaps", async () => {
  const { grant, start } = await publish();
  const { sessionId } = start;
  const fact = segment(grant, sessionId, 0);
  const rung = fact.recorded.slice(0, 1).map((row) => ({ ...row, rendition: "v0" }));
  await tell(kit.domains, fact, { ...fact, type: "rungs-recorded", recorded: rung });
  await tell(kit.domains, ...["source", "audio", "v0"].map((rendition) => sealed(grant, sessionId, rendition)));
  const last = 21_600;
  await sql`
    insert into recording_segment (session_id, project_id, user_id, rendition, msn, epoch, start_ticks, duration_ticks, program_date_time,
      discontinuity, gap, init, span, byte_offset, byte_length)
    select session_id, project_id, user_id, rendition, n, epoch, n * 180000::bigint, duration_ticks, program_date_time,
      discontinuity, gap, init, span, byte_offset, byte_length
    from recording_segment, generate_series(1, ${last}::int) n
    where session_id = ${sessionId} and rendition in ('source', 'v0') and not (rendition = 'v0' and n % 1000 = 7)`.execute(
    kit.db,
  );
  const read = async () => {
    const found: SealedSegments[] = [];
    for await (const some of kit.domains.mediaCatalogue.sealedSegments(sessionId)) found.push(some);
    return found;
  };
  const found = await read();
  expect(Math.max(...found.map(({ segments }) => segments.length))).toBe(250);
  const shapeOf = (name: string) => {
    const segments = found.flatMap(({ rendition, segments }) => (rendition === name ? segments : []));
    return [segments.length, segments.filter(({ gap }) => gap).length, segments.at(-1)?.msn];
  };
  expect(["audio", "source", "v0"].map(shapeOf)).toEqual([
    [1, 0, 0],
    [last + 1, 0, last],
    [last + 1, 22, last],
  ]);
});
