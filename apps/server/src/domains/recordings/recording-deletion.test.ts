import { describe, expect, it } from "vitest";
import { viewerOf } from "../domain-test-kit.ts";
import {
  ended,
  events,
  kit,
  pass,
  publish,
  read,
  readSession,
  sealed,
  segment,
  setUpLiveRig,
  stream,
  tell,
} from "../live-test-rig.ts";
import { GRACE_MS } from "./recording-deletion.ts";

setUpLiveRig();

const GONE = { ok: false, reason: "gone" };
const remove = async (path: string, body?: unknown) => (await kit.call("DELETE", path, body)).statusCode;
const opens = (playbackId: string) => kit.domains.playbackGate.open(viewerOf(playbackId));

/** A session whose recording plays, and the playback id that it plays by. */
async function recorded() {
  const { grant, start } = await publish();
  const { sessionId } = start;
  await tell(kit.domains, segment(grant, sessionId, 1), ended(grant, "clean-stop"));
  await tell(kit.domains, sealed(grant, sessionId, "source"), sealed(grant, sessionId, "audio"));
  await pass(2_000);
  const { recordingUrl = "" } = await readSession(sessionId);
  const playbackId = recordingUrl.split("/").at(-2) ?? "";
  expect(await opens(playbackId)).toMatchObject({ ok: true });
  return { grant, sessionId, playbackId, prefix: `v1/${grant.projectId}/rec/${sessionId}/` };
}

async function rowsOf(sessionId: string): Promise<number[]> {
  const tables = ["recording_segment", "recording_span", "recording_rendition"] as const;
  const counts = tables.map((table) =>
    kit.db.selectFrom(table).select("rendition").where("session_id", "=", sessionId).execute(),
  );
  return (await Promise.all(counts)).map(({ length }) => length);
}

describe("deleting a recording", () => {
  it("plays nowhere from then on; the session stays, and webhooks and viewers' gates are told", async () => {
    const { sessionId, playbackId } = await recorded();
    expect(await remove(`/api/session/${sessionId}`)).toBe(204);
    expect(kit.asked.accessChanges).toContain(playbackId);
    kit.domains.accessChanged(playbackId);
    expect(await opens(playbackId)).toEqual(GONE);
    for (const id of [playbackId, sessionId])
      expect((await kit.call("GET", `/api/playback/${id}`)).statusCode).toBe(404);
    const session = await readSession(sessionId);
    expect(session).toMatchObject({ recordingStatus: "deleted", sourceSegmentsDuration: 2 });
    expect([session.recordingUrl, session.mp4Url]).toEqual([undefined, undefined]);
    const listed = await kit.call("GET", '/api/session?filters=[{"id":"recordingStatus","value":"deleted"}]');
    expect(listed.json<{ id: string }[]>().map(({ id }) => id)).toContain(sessionId);
    expect(await events()).toContainEqual(expect.objectContaining({ event: "recording.deleted", sessionId }));
    // Once is enough, and there is nothing left to tell.
    expect(await remove(`/api/session/${sessionId}`)).toBe(204);
    expect((await events()).filter((event) => "event" in event && event.event === "recording.deleted")).toHaveLength(1);
  });

  it("its bytes and index rows are removed after the grace time, also when the server is killed between the steps", async () => {
    const { sessionId, prefix } = await recorded();
    await remove(`/api/session/${sessionId}`);
    await pass(GRACE_MS - 1);
    expect(kit.asked.removedPrefixes).not.toContain(prefix);
    expect(await rowsOf(sessionId)).toEqual([2, 2, 2]);
    kit.asked.failsToRemove = true;
    await pass(1);
    kit.asked.failsToRemove = false;
    expect(await rowsOf(sessionId)).toEqual([2, 2, 2]);
    await pass(60_000);
    expect(kit.asked.removedPrefixes.filter((removed) => removed === prefix)).toHaveLength(1);
    expect(await rowsOf(sessionId)).toEqual([0, 0, 0]);
    await pass(GRACE_MS);
    expect(kit.asked.removedPrefixes.filter((removed) => removed === prefix)).toHaveLength(1);
  });

  it("one that is still being finished is deleted; what reaches the store later is removed too", async () => {
    const { grant, start } = await publish();
    const { sessionId } = start;
    const prefix = `v1/${grant.projectId}/rec/${sessionId}/`;
    await tell(kit.domains, segment(grant, sessionId, 1), ended(grant, "clean-stop"));
    await tell(kit.domains, sealed(grant, sessionId, "source"));
    expect(await remove(`/api/session/${sessionId}`)).toBe(204);
    await pass(GRACE_MS);
    expect(kit.asked.removedPrefixes.filter((removed) => removed === prefix)).toHaveLength(1);
    await tell(kit.domains, segment(grant, sessionId, 1), sealed(grant, sessionId, "audio"));
    await pass(1_000);
    expect(kit.asked.removedPrefixes.filter((removed) => removed === prefix)).toHaveLength(2);
    expect(await rowsOf(sessionId)).toEqual([0, 0, 0]);
    expect(await readSession(sessionId)).toMatchObject({ recordingStatus: "deleted" });
  });

  it("one of a live session is refused with a sentence, and a list with it or an unknown one deletes none", async () => {
    const { sessionId, playbackId } = await recorded();
    const { start } = await publish();
    const answer = await kit.call("DELETE", `/api/session/${start.sessionId}`);
    expect([answer.statusCode, answer.json().code]).toEqual([409, "session-live"]);
    expect(answer.json().errors[0]).toContain("end its broadcast");
    expect(await remove("/api/session", { ids: [sessionId, start.sessionId] })).toBe(409);
    expect(await remove("/api/session", { ids: [sessionId, stream.id] })).toBe(404);
    expect(await remove("/api/session", {})).toBe(422);
    expect(await opens(playbackId)).toMatchObject({ ok: true });
    expect(await remove("/api/session", { ids: [sessionId, sessionId] })).toBe(204);
    expect(await readSession(sessionId)).toMatchObject({ recordingStatus: "deleted" });
  });

  it("stays when its stream alone is deleted", async () => {
    const kept = await recorded();
    const live = await publish();
    expect(await remove(`/api/stream/${stream.id}`)).toBe(204);
    expect(await readSession(kept.sessionId)).toMatchObject({ recordingStatus: "ready" });
    expect(await readSession(live.start.sessionId)).toMatchObject({ recordingStatus: "waiting" });
  });

  it("goes with its stream when asked, the one that is being made included", async () => {
    const old = await recorded();
    const live = await publish();
    expect((await read()).isActive).toBe(true);
    expect(await remove("/api/stream?recordings=true", { ids: [stream.id] })).toBe(204);
    for (const sessionId of [old.sessionId, live.start.sessionId])
      expect(await readSession(sessionId)).toMatchObject({ recordingStatus: "deleted", isActive: false });
    expect(kit.asked.accessChanges).toContain(old.playbackId);
    expect((await events()).map((event) => ("event" in event ? event.event : event.type)).slice(-4)).toEqual([
      "stream_state",
      "recording.waiting",
      "recording.deleted",
      "recording.deleted",
    ]);
  });
});
