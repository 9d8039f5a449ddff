import type { Stream, Webhook } from "@weir/contract";
import { describe, expect, it } from "vitest";
import type { PublishGrant, SegmentClosed, StoredContent } from "../ports/index.ts";
import { viewerOf, WINDOW_MS } from "./domain-test-kit.ts";
import { findMediaNodes } from "./index.ts";
import {
  authorize,
  disposable,
  ended,
  events,
  kit,
  now,
  pass,
  publish,
  read,
  readSession,
  sealed,
  segment,
  setUpLiveRig,
  states,
  stream,
  tell,
} from "./live-test-rig.ts";

setUpLiveRig();

const independent = (fact: SegmentClosed): SegmentClosed => ({
  ...fact,
  recorded: fact.recorded.map((row) => ({ ...row, isIndependent: true })),
});

describe("recordings", () => {
  it("has its rungs beside the source, with a gap where one is missing", async () => {
    const { grant, start } = await publish();
    const { sessionId } = start;
    expect(start.recordedProfiles).toEqual(["240p0", "360p0", "480p0", "720p0"]);
    const rungs = [1, 3].map((msn) => {
      const { recorded, ...fact } = segment(grant, sessionId, msn);
      const rows = recorded.slice(0, 1).map((row) => ({ ...row, rendition: "v0", length: 100 }));
      return { ...fact, type: "rungs-recorded", recorded: rows } as const;
    });
    await tell(kit.domains, ...[1, 2, 3].map((msn) => segment(grant, sessionId, msn)), ...rungs);
    await tell(kit.domains, ...["source", "audio", "v0"].map((rendition) => sealed(grant, sessionId, rendition)));
    await tell(kit.domains, ended(grant, "clean-stop"));
    await pass(5_000);
    expect(await readSession(sessionId)).toMatchObject({ recordingStatus: "ready", sourceSegmentsDuration: 6 });
    const index = await kit.domains.mediaCatalogue.mediaIndex(recordingOf(grant, sessionId));
    const rung = index?.renditions.find(({ rendition }) => rendition === "v0");
    expect(rung?.segments.map(({ msn, gap, durationTicks }) => [msn, gap, durationTicks])).toEqual([
      [1, false, 180_000],
      [2, true, 180_000],
      [3, false, 180_000],
    ]);
  });

  it("lists a rung that was paused with gaps, one that a kill cut short to its last segment, and none that ends early", async () => {
    const { grant, start } = await publish();
    const { sessionId } = start;
    const rung = (rendition: string, msn: number, gap = false) => {
      const { recorded, ...fact } = segment(grant, sessionId, msn);
      const rows = recorded.slice(0, 1).map((row) => ({ ...row, rendition, gap }));
      return { ...fact, type: "rungs-recorded", recorded: rows } as const;
    };
    const msns = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
    await tell(kit.domains, ...msns.map((msn) => segment(grant, sessionId, msn)));
    await tell(kit.domains, ...[1, 2, 12].map((msn) => rung("v0", msn)));
    await tell(kit.domains, ...msns.slice(0, 10).map((msn) => rung("v1", msn)));
    await tell(kit.domains, ...[3, 4].map((msn) => rung("v2", msn)), ...[1, 2, 3].map((msn) => rung("v3", msn, true)));
    const renditions = ["source", "audio", "v0", "v1", "v2", "v3"];
    await tell(kit.domains, ...renditions.map((rendition) => sealed(grant, sessionId, rendition)));
    await tell(kit.domains, ended(grant, "clean-stop"));
    await pass(5_000);
    const index = await kit.domains.mediaCatalogue.mediaIndex(recordingOf(grant, sessionId));
    const shape = (segments: readonly { readonly gap: boolean }[]) =>
      segments.map(({ gap }) => (gap ? "-" : "x")).join("");
    expect(index?.renditions.map(({ rendition, segments }) => [rendition, shape(segments)])).toEqual([
      ["audio", "xxxxxxxxxxxx"],
      ["source", "xxxxxxxxxxxx"],
      ["v0", "xx---------x"],
      ["v1", "xxxxxxxxxx"],
    ]);
  });

  it("is ready when the session has ended and every span is sealed, and plays by its own id", async () => {
    const { grant, start } = await publish();
    const { sessionId } = start;
    await tell(
      kit.domains,
      independent(segment(grant, sessionId, 1)),
      segment(grant, sessionId, 2),
      sealed(grant, sessionId, "source"),
    );
    await tell(kit.domains, ended(grant, "clean-stop"));
    await pass(2_000);
    expect(await readSession(sessionId)).toMatchObject({ recordingStatus: "waiting" });
    expect((await kit.call("GET", `/api/playback/${sessionId}`)).statusCode).toBe(422);

    await tell(kit.domains, sealed(grant, sessionId, "audio"));
    await pass(5_000);
    const session = await readSession(sessionId);
    expect(session).toMatchObject({ recordingStatus: "ready", sourceSegmentsDuration: 4 });
    const playbackId = /\/asset\/hls\/([^/]+)\/index.m3u8$/.exec(session.recordingUrl ?? "")?.[1] ?? "";
    expect(session.mp4Url).toBe(`http://weir.test/asset/hls/${playbackId}/staticsource.mp4`);
    expect(await kit.domains.playbackGate.open(viewerOf(playbackId))).toMatchObject({
      ok: true,
      content: { kind: "recording", id: sessionId },
    });
    const index = await kit.domains.mediaCatalogue.mediaIndex(recordingOf(grant, sessionId));
    expect(index).toMatchObject({ id: sessionId, keyPrefix: `v1/${grant.projectId}/rec/${sessionId}/` });
    expect(index?.renditions.map(({ rendition, segments }) => [rendition, segments.map(({ msn }) => msn)])).toEqual([
      ["audio", [1, 2]],
      ["source", [1, 2]],
    ]);
    expect(index?.renditions[0]?.segments.map(({ isIndependent }) => isIndependent)).toEqual([true, undefined]);
    const byId = (await kit.call("GET", `/api/playback/${playbackId}`)).json();
    const bySession = (await kit.call("GET", `/api/playback/${sessionId}`)).json();
    expect([byId.type, bySession.type]).toEqual(["vod", "recording"]);
    expect(bySession.meta.source[0]).toMatchObject({ hrn: "MP4", width: 640, height: 360, url: session.mp4Url });
    expect(bySession.meta.source[0]).not.toHaveProperty("size");
    expect(byId.meta).toMatchObject({
      startedAt: session.createdAt,
      poster: `http://weir.test/asset/hls/${playbackId}/thumbnail.jpg`,
    });

    // The picture of the offline stream is its recording's, at the stream's own address and with its rules.
    const ofStream = async () =>
      (await kit.call("GET", `/api/playback/${stream.playbackId}`, undefined, {})).json().meta;
    const poster = `http://weir.test/hls/${stream.playbackId}/thumbnail.jpg`;
    expect(await ofStream()).toMatchObject({ live: 0, startedAt: session.createdAt, poster });
    expect(await kit.domains.mediaCatalogue.newestRecordingOf(stream.id)).toEqual(recordingOf(grant, sessionId));
    await kit.call("PATCH", `/api/stream/${stream.id}`, { playbackPolicy: { type: "jwt" } });
    expect(await ofStream()).toMatchObject({ poster });
    expect(await ofStream()).not.toHaveProperty("startedAt");
    await kit.call("PATCH", `/api/stream/${stream.id}`, { playbackPolicy: { type: "public" } });

    expect(kit.asked.measured).toContain(sessionId);
    kit.domains.mediaCatalogue.noteMp4Size(recordingOf(grant, sessionId), 5_000_000_000);
    const sizeNow = async () => (await kit.call("GET", `/api/playback/${sessionId}`)).json().meta.source[0].size;
    await expect.poll(sizeNow).toBe(5_000_000_000);
  });

  it("one that was interrupted says why; what was written of it is waited for; with nothing written it has failed", async () => {
    for (const keeps of [true, false]) {
      const { grant, start } = await publish();
      const { streamId, epoch } = grant;
      const { sessionId } = start;
      const reason = "part of the recording is missing: the disk was full";
      const failed = { type: "recording-failed", streamId, epoch, at: now(), sessionId, reason } as const;
      const left = (msn: number) => ({ ...segment(grant, sessionId, msn), recorded: [] });
      const seals = [sealed(grant, sessionId, "source"), sealed(grant, sessionId, "audio")];
      if (keeps) await tell(kit.domains, segment(grant, sessionId, 1), left(2), failed, segment(grant, sessionId, 3));
      else await tell(kit.domains, left(1), failed);
      await tell(kit.domains, ended(grant, "clean-stop"));
      await pass(2_000);
      if (keeps) {
        expect(await readSession(sessionId)).toMatchObject({ recordingStatus: "waiting" });
        await tell(kit.domains, ...seals);
        await pass(5_000);
      }
      const recordingStatus = keeps ? "ready" : "failed";
      expect(await readSession(sessionId)).toMatchObject({ recordingStatus, recordingError: reason });
      const index = await kit.domains.mediaCatalogue.mediaIndex(recordingOf(grant, sessionId));
      expect(index?.renditions[0]?.segments.map(({ msn, discontinuity }) => [msn, discontinuity])).toEqual(
        keeps
          ? [
              [1, false],
              [3, false],
            ]
          : undefined,
      );
    }
  });

  it("one whose object store is away for hours at its end waits, says why, and becomes ready with all of it", async () => {
    const { grant, start } = await publish();
    const { sessionId } = start;
    const spooled = () => {
      const { streamId, epoch } = grant;
      return { type: "recording-spooled", streamId, epoch, at: now(), sessionId } as const;
    };
    await tell(kit.domains, segment(grant, sessionId, 1), segment(grant, sessionId, 2));
    await tell(kit.domains, sealed(grant, sessionId, "source"), ended(grant, "clean-stop"));
    await pass(2_000);
    expect((await readSession(sessionId)).recordingDelay).toBeUndefined();
    for (let halfHours = 0; halfHours < 6; halfHours++) {
      kit.clock.advance(1_800_000);
      await tell(kit.domains, spooled());
      await pass(5_000);
    }
    expect(await readSession(sessionId)).toMatchObject({
      recordingStatus: "waiting",
      recordingDelay: expect.stringContaining("object store"),
    });
    await tell(kit.domains, sealed(grant, sessionId, "audio"));
    await pass(5_000);
    const session = await readSession(sessionId);
    expect(session).toMatchObject({ recordingStatus: "ready", sourceSegmentsDuration: 4 });
    expect([session.recordingDelay, session.recordingError]).toEqual([undefined, undefined]);
    expect((await events()).at(-1)).toMatchObject({ event: "recording.ready", sessionId });
  });

  it("one that waits for the object store while the database is away for hours is not judged before its node could say so", async () => {
    const { grant, start } = await publish();
    const { sessionId } = start;
    const { streamId, epoch } = grant;
    await tell(kit.domains, segment(grant, sessionId, 1), segment(grant, sessionId, 2));
    await tell(kit.domains, sealed(grant, sessionId, "source"), ended(grant, "clean-stop"));
    await pass(10_000);
    expect(await readSession(sessionId)).toMatchObject({ recordingStatus: "waiting" });
    // Nobody reaches the database: neither who judges, nor the node, which says each minute that it has the rest.
    kit.clock.advance(2 * 3_600_000);
    // It is back. Who judges looks each second; the facts that wait are written within five.
    await pass(5_000);
    expect(await readSession(sessionId)).toMatchObject({ recordingStatus: "waiting" });
    await tell(kit.domains, { type: "recording-spooled", streamId, epoch, at: now(), sessionId });
    await pass(120_000);
    await tell(kit.domains, sealed(grant, sessionId, "audio"));
    await pass(120_000);
    const session = await readSession(sessionId);
    expect([session.recordingStatus, session.recordingError]).toEqual(["ready", undefined]);
  });

  it("one whose node is gone with the rest of it is taken as it is, an hour after it was last heard of", async () => {
    const { grant, start } = await publish();
    const { sessionId } = start;
    const { streamId, epoch } = grant;
    await tell(
      kit.domains,
      segment(grant, sessionId, 1),
      sealed(grant, sessionId, "source"),
      ended(grant, "clean-stop"),
    );
    kit.clock.advance(1_800_000);
    await tell(kit.domains, { type: "recording-spooled", streamId, epoch, at: now(), sessionId });
    await pass(3_590_000);
    expect(await readSession(sessionId)).toMatchObject({ recordingStatus: "waiting" });
    await pass(10_000);
    expect(await readSession(sessionId)).toMatchObject({
      recordingStatus: "ready",
      recordingError: expect.any(String),
    });
  });

  it("rows that point behind the end of a span are cut: a gap where another rendition has the segment, else nothing", async () => {
    const { grant, start } = await publish();
    const { sessionId } = start;
    const [first, second, third] = [1, 2, 3].map((msn) => segment(grant, sessionId, msn));
    if (!first || !second || !third) throw new Error("three segments");
    await tell(kit.domains, first, second, third);
    const bytes = (rendition: string, kept: number) => ({ ...sealed(grant, sessionId, rendition), bytes: kept });
    await tell(kit.domains, bytes("source", 1_500), bytes("audio", 2_000), ended(grant, "clean-stop"));
    await pass(2_000);
    expect(await readSession(sessionId)).toMatchObject({
      recordingStatus: "ready",
      recordingError: expect.stringContaining("damaged"),
    });
    const index = await kit.domains.mediaCatalogue.mediaIndex(recordingOf(grant, sessionId));
    expect(index?.renditions.map(({ rendition, segments }) => [rendition, segments.map(({ gap }) => gap)])).toEqual([
      ["audio", [false, false]],
      ["source", [false, true]],
    ]);
    expect(index?.renditions[0]?.spanBytes.get("1-0000000001.m4s")).toBe(2_000);
  });

  it("without a policy it is public; with jwt or webhook it is denied as an unknown one is", async () => {
    const denied = { ok: false, reason: "denied" };
    const webhook = { name: "gate", url: "https://example.com/gate", events: ["playback.accessControl"] };
    const { id: webhookId } = (await kit.call("POST", "/api/webhook", webhook)).json<Webhook>();
    for (const playbackPolicy of [{ type: "jwt" }, { type: "webhook", webhookId }]) {
      const gated = (await kit.call("POST", "/api/stream", { name: "gated", playbackPolicy })).json<Stream>();
      expect(await kit.domains.playbackGate.open(viewerOf(gated.playbackId))).toEqual(denied);
    }
    for (const playbackId of ["0000000000000000", "", "a\0", stream.id]) {
      expect(await kit.domains.playbackGate.open(viewerOf(playbackId))).toEqual(denied);
    }
    expect(await kit.domains.playbackGate.open(viewerOf(stream.playbackId))).toMatchObject({ ok: true });
  });
});

describe("kill -9", () => {
  it("after a restart the stream is reconnecting, then idle; late rows of the spool complete the recording, once each", async () => {
    const { grant, start } = await publish();
    const { sessionId } = start;
    await tell(kit.domains, segment(grant, sessionId, 1));
    const lastSeen = now();
    kit.clock.advance(5_000);

    await using reborn = disposable(kit.another("one"));
    await reborn.domains.node.join();
    expect(await read()).toMatchObject({
      status: { state: "reconnecting", reconnectUntil: lastSeen + WINDOW_MS },
      lastSeen,
    });
    // Segment 1 is told again, segment 2 never reached the database before the crash. Both have the epoch of the dead publisher.
    await tell(reborn.domains, segment(grant, sessionId, 1), segment(grant, sessionId, 2));
    await tell(reborn.domains, ended(grant, "clean-stop"));
    expect(await read()).toMatchObject({
      status: { state: "reconnecting" },
      lastSeen,
      sourceSegments: 2,
      sourceSegmentsDuration: 4,
    });

    await pass(WINDOW_MS - 5_000);
    expect(await read()).toMatchObject({ isActive: false, lastSeen });
    await tell(reborn.domains, sealed(grant, sessionId, "source"), sealed(grant, sessionId, "audio"));
    await pass(20_000);
    expect(await readSession(sessionId)).toMatchObject({
      recordingStatus: "ready",
      sourceSegmentsDuration: 4,
      endedAt: lastSeen,
    });
    // Final: a row that comes even later changes nothing.
    await tell(reborn.domains, segment(grant, sessionId, 3));
    expect(await readSession(sessionId)).toMatchObject({ sourceSegments: 2 });
    expect(await states()).toEqual([true, false]);
  });

  it("a restart after the window ends the session at once, and the recording still waits for the spool", async () => {
    const { grant, start } = await publish();
    await tell(
      kit.domains,
      segment(grant, start.sessionId, 1),
      sealed(grant, start.sessionId, "source"),
      sealed(grant, start.sessionId, "audio"),
    );
    kit.clock.advance(3_600_000);
    await using reborn = disposable(kit.another("one"));
    await reborn.domains.node.join();
    await pass(2_000);
    expect(await read()).toMatchObject({ isActive: false });
    expect(await readSession(start.sessionId)).toMatchObject({ isActive: false, recordingStatus: "waiting" });
    await pass(20_000);
    expect(await readSession(start.sessionId)).toMatchObject({ recordingStatus: "ready" });
  });

  it("a publisher back after the restart goes on with the session", async () => {
    const { start } = await publish();
    await using reborn = disposable(kit.another("one"));
    await reborn.domains.node.join();
    expect((await publish(reborn.domains)).start).toMatchObject({
      sessionId: start.sessionId,
      resume: { nextMsn: 17 },
    });
  });

  it("another node that is lost loses its streams when its lease is over, not before", async () => {
    // Earlier tests restarted this node as another process: it would find that out in the middle of this one.
    await kit.domains.node.join();
    await using other = disposable(kit.another("two"));
    await other.domains.node.join();
    await publish(other.domains);
    await other.domains.close();
    await pass(8_000);
    expect(await read()).toMatchObject({ status: { state: "live" } });
    // Leases are told by the database's clock.
    await kit.db
      .updateTable("node")
      .set({ seen_at: new Date(0) })
      .where("name", "=", "two")
      .execute();
    await pass(8_000);
    expect(await read()).toMatchObject({ isActive: true, status: { state: "reconnecting" } });
  });

  it("a node that leaves gives its streams back, and a draining one takes no publisher", async () => {
    await using other = disposable(kit.another("three"));
    await other.domains.node.join();
    await publish(other.domains);
    await other.domains.node.drain();
    await expect(authorize(other.domains)).rejects.toThrow("draining");
    // What it showed can still be stored.
    expect(await findMediaNodes(kit.db, ["serving"])).not.toContain(other.domains.node.id);
    expect(await findMediaNodes(kit.db, ["serving", "draining"])).toContain(other.domains.node.id);
    await other.domains.node.leave();
    expect(await read()).toMatchObject({ status: { state: "reconnecting" } });
  });
});

function recordingOf({ projectId }: PublishGrant, sessionId: string): StoredContent {
  return { kind: "recording", id: sessionId, projectId };
}
