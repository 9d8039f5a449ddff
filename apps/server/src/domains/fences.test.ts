import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { HeldSession, LossReason, MediaFact, PublishGrant } from "../ports/index.ts";
import { WINDOW_MS } from "./domain-test-kit.ts";
import {
  authorize,
  disposable,
  ended,
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

/** Another node, which has joined. */
async function another(name: string, address?: string) {
  const { domains } = disposable(kit.another(name, undefined, address));
  await domains.node.join();
  return { domains, [Symbol.asyncDispose]: () => domains.close() };
}

const rows = (sessionId: string) =>
  kit.db
    .selectFrom("recording_segment")
    .select(["msn", "epoch"])
    .where("session_id", "=", sessionId)
    .where("rendition", "=", "source")
    .orderBy("msn")
    .execute()
    .then((all) => all.map(({ msn, epoch }) => [Number(msn), Number(epoch)]));

describe("a stream's owner", () => {
  it("is the publisher whose media began last: a connection with the key alone changes nothing", async () => {
    await using other = await another("b");
    const { grant, start } = await publish();
    const before = await read();
    const idle = await authorize(other.domains);
    await tell(other.domains, ended(idle, "source-lost"));
    expect(await read()).toEqual(before);
    await tell(kit.domains, segment(grant, start.sessionId, 1));
    expect(await read()).toMatchObject({ sourceSegments: 1, status: { state: "live" } });
    expect(kit.asked.moves.filter(({ streamId }) => streamId === stream.id)).toEqual([]);
  });

  it("on another node is told to all, once it is the owner", async () => {
    await using other = await another("b");
    const first = await publish();
    const { grant, start } = await publish(other.domains);
    expect(start).toMatchObject({ sessionId: first.start.sessionId, previousEpoch: first.grant.epoch });
    expect(kit.asked.moves.at(-1)).toEqual({
      streamId: stream.id,
      sessionId: start.sessionId,
      epoch: grant.epoch,
      nodeId: other.domains.node.id,
      address: null,
    });
    await tell(kit.domains, ended(first.grant, "clean-stop"));
    expect(await read()).toMatchObject({ status: { state: "live" } });
    expect(await states()).toEqual([true]);
  });

  it("is told where the owner before is reached, to ask it where the session goes on, unless that has no lease", async () => {
    await using other = await another("b", "127.0.0.1:7001");
    await using third = await another("c", "127.0.0.1:7002");
    await publish();
    expect((await publish(other.domains)).start.previousPlace).toBe(null);
    const place = { nodeId: other.domains.node.id, address: "127.0.0.1:7001" };
    expect((await publish(third.domains)).start.previousPlace).toEqual(place);
    expect((await publish(third.domains)).start.previousPlace).toBe(null);
    await publish(other.domains);
    await kit.db
      .updateTable("node")
      .set({ seen_at: new Date(0) })
      .where("id", "=", place.nodeId)
      .execute();
    expect((await publish(third.domains)).start.previousPlace).toBe(null);
  });

  it("is none of those that were let in before the stream was terminated", async () => {
    await publish();
    const early = await authorize();
    await kit.call("DELETE", `/api/stream/${stream.id}/terminate`);
    expect(await kit.domains.publishGate.begin(early, now())).toBeNull();
    expect((await publish()).start.resume).toBeNull();
  });

  it("starts behind every number that its predecessor may have used, the more the longer nothing was heard of it", async () => {
    await using other = await another("b");
    const { grant, start } = await publish();
    await tell(kit.domains, segment(grant, start.sessionId, 1), ended(grant, "source-lost"));
    kit.clock.advance(15_000);
    const back = await publish();
    expect(back.start.resume).toMatchObject({ nextMsn: 2 + 16 + 10, endTicks: 180_000 + (32 + 15) * 90_000 });
    // A predecessor on another node cannot be asked, and may go on for a day.
    const away = await publish(other.domains);
    expect(away.start.resume).toMatchObject({ nextMsn: 2 + 2 * 16 + 10 + 43_200 });
  });
});

describe("rows of an earlier owner on another node", () => {
  it("count if their segments began before the later one did, however late they are told, and not behind", async () => {
    await using other = await another("b");
    const first = await publish();
    const { sessionId } = first.start;
    const before = segment(first.grant, sessionId, 1);
    const open = segment(first.grant, sessionId, 2);
    kit.clock.advance(3_000);
    const second = await publish(other.domains);
    const { nextMsn = 0 } = second.start.resume ?? {};
    kit.clock.advance(2_000);
    const behind = segment(first.grant, sessionId, 3);
    // It closes late, and began in time.
    const late = { ...open, at: now() - 1_000 };
    await tell(other.domains, segment(second.grant, sessionId, nextMsn));
    await tell(kit.domains, behind, late, before, segment(first.grant, sessionId, nextMsn + 5));
    expect(await rows(sessionId)).toEqual([
      [1, first.grant.epoch],
      [2, first.grant.epoch],
      [nextMsn, second.grant.epoch],
    ]);
    expect(await read()).toMatchObject({ sourceSegments: 3 });
  });

  it("count whatever the time for an earlier publisher of the same node, whose session goes on in memory", async () => {
    const first = await publish();
    const second = await publish();
    await tell(kit.domains, segment(first.grant, first.start.sessionId, 1));
    await tell(kit.domains, segment(second.grant, first.start.sessionId, 2));
    expect((await rows(first.start.sessionId)).map(([msn]) => msn)).toEqual([1, 2]);
  });

  it("and its targets' changes and failures do not count", async () => {
    await using other = await another("b");
    const first = await publish();
    const { sessionId } = first.start;
    const changed = ({ streamId, epoch }: PublishGrant, state: "online" | "idle"): MediaFact => {
      const about = { type: "target-changed", streamId, epoch, at: now(), sessionId, reason: null } as const;
      const told = state === "online" ? "connected" : "disconnected";
      return { ...about, target: { id: "t", name: "t", profile: "source" }, state, told };
    };
    const second = await publish(other.domains);
    await tell(other.domains, changed(second.grant, "online"));
    const { streamId, epoch } = first.grant;
    const failed = { type: "recording-failed", streamId, epoch, at: now(), sessionId, reason: "no disk" } as const;
    await tell(kit.domains, changed(first.grant, "idle"), failed);
    const row = await kit.db
      .selectFrom("stream")
      .innerJoin("session", "session.id", "stream.session_id")
      .select(["target_states", "recording_error"])
      .where("stream.id", "=", stream.id)
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({ target_states: [expect.objectContaining({ state: "online" })], recording_error: null });
  });
});

describe("each heartbeat compares what a node holds with the rows", () => {
  /** What the node is told that it lost, of what it holds. */
  async function lost(...held: readonly HeldSession[]): Promise<[string, LossReason][]> {
    const told: [string, LossReason][] = [];
    kit.domains.node.hold({ held: () => held, lost: ({ streamId }, why) => void told.push([streamId, why]) });
    await kit.domains.node.heartbeat();
    kit.domains.node.hold({ held: () => [], lost: () => {} });
    return told;
  }
  const hold = ({ grant, start }: Awaited<ReturnType<typeof publish>>): HeldSession => {
    return { streamId: grant.streamId, sessionId: start.sessionId, epoch: grant.epoch, isLive: true };
  };

  it("nothing is lost that the rows call this node's", async () => {
    const mine = hold(await publish());
    await authorize();
    expect(await lost(mine)).toEqual([]);
  });

  it("a stream that has an owner on another node, where the notification was lost", async () => {
    await using other = await another("b");
    const mine = hold(await publish());
    await publish(other.domains);
    expect(await lost(mine)).toEqual([[stream.id, "moved"]]);
  });

  it.each([
    ["terminated", () => kit.call("DELETE", `/api/stream/${stream.id}/terminate`)],
    ["suspended", () => kit.call("PATCH", `/api/stream/${stream.id}`, { suspended: true })],
    ["deleted", () => kit.call("DELETE", `/api/stream/${stream.id}`)],
    ["key-rotated", () => kit.call("POST", `/api/stream/${stream.id}/rotate-key`)],
  ] as const)("a stream that was %s, where the command was lost", async (why, change) => {
    const mine = hold(await publish());
    expect((await change()).statusCode).toBeLessThan(300);
    expect(await lost(mine)).toEqual([[stream.id, why]]);
  });

  it("nothing is lost of a session that waits for a publisher with the new key, who goes on with it", async () => {
    const started = await publish();
    await kit.call("POST", `/api/stream/${stream.id}/rotate-key`);
    expect(await lost({ ...hold(started), isLive: false })).toEqual([]);
    stream.streamKey = (await read()).streamKey ?? "";
    expect((await publish()).start).toMatchObject({
      sessionId: started.start.sessionId,
      previousEpoch: started.grant.epoch,
    });
  });

  it("a session that ended while its node was taken for lost", async () => {
    const started = await publish();
    await tell(kit.domains, ended(started.grant, "source-lost"));
    await pass(WINDOW_MS);
    expect(await lost(hold(started))).toEqual([[stream.id, "window-over"]]);
  });

  it("a stream that the node still owns after it was declared gone goes on, in the same session and with all facts", async () => {
    await using other = await another("c");
    const started = await publish(other.domains);
    const mine = hold(started);
    await kit.db.updateTable("node").set({ state: "gone" }).where("name", "=", "c").execute();
    await kit.domains.housekeeping.tick();
    expect(await read()).toMatchObject({ isActive: true, status: { state: "reconnecting" } });
    other.domains.eventSink.report(segment(started.grant, mine.sessionId, 1));
    other.domains.node.hold({ held: () => [mine], lost: () => expect.fail("nothing was lost") });
    await other.domains.node.heartbeat();
    await other.domains.eventSink.settle();
    expect(await read()).toMatchObject({
      sourceSegments: 1,
      isActive: true,
      status: { state: "live", sessionId: mine.sessionId },
    });
    expect(await states()).toEqual([true]);
  });
});

it("a recording waits for what a lost node has of it, until that is back and has told", async () => {
  await using other = await another("e");
  const { grant, start } = await publish(other.domains);
  const { sessionId } = start;
  const span = (msn: number) => `1-000000000${msn}.m4s`;
  await tell(other.domains, segment(grant, sessionId, 1, span(1)));
  await tell(other.domains, ...["source", "audio"].map((rendition) => sealed(grant, sessionId, rendition, span(1))));
  await kit.db.updateTable("node").set({ state: "gone" }).where("name", "=", "e").execute();
  await kit.domains.housekeeping.tick();
  await pass(WINDOW_MS + 30_000);
  expect(await readSession(sessionId)).toMatchObject({ isActive: false, recordingStatus: "waiting" });

  const told = ["source", "audio"].map((rendition) => sealed(grant, sessionId, rendition, span(2)));
  for (const fact of [segment(grant, sessionId, 2, span(2)), ...told]) other.domains.eventSink.report(fact);
  await other.domains.node.heartbeat();
  await pass(5_000);
  expect(await readSession(sessionId)).toMatchObject({ recordingStatus: "ready", sourceSegments: 2 });
});

it.each([
  { what: "ready without what was there", sealedSpan: true, status: "ready" },
  { what: "failed where that is all", sealedSpan: false, status: "failed" },
])("a recording that waited for the disk of a lost node for long enough is $what, and says so", async (row) => {
  await using other = await another(`lost ${row.status}`);
  const { grant, start } = await publish(other.domains);
  const { sessionId } = start;
  const span = (msn: number) => `1-000000000${msn}.m4s`;
  const spans = ["source", "audio"].map((rendition) => sealed(grant, sessionId, rendition, span(1)));
  await tell(other.domains, segment(grant, sessionId, 1, span(1)), ...(row.sealedSpan ? spans : []));
  // Another chapter is known, and never came.
  await tell(other.domains, segment(grant, sessionId, 2, span(2)));
  await other.domains.close();
  const lostFor = (seconds: number) =>
    kit.db
      .updateTable("node")
      .set({ state: "gone", seen_at: new Date(Date.now() - seconds * 1000) })
      .where("id", "=", other.domains.node.id)
      .execute();
  await lostFor(60);
  await kit.domains.housekeeping.tick();
  await pass(WINDOW_MS + 30_000);
  expect(await readSession(sessionId)).toMatchObject({ isActive: false, recordingStatus: "waiting" });
  await lostFor(601);
  await pass(5_000);
  expect(await readSession(sessionId)).toMatchObject({
    recordingStatus: row.status,
    recordingError: `the server process lost ${row.status} was lost during the broadcast, and what only its disk has of the recording is missing`,
  });
});

it("a recording waits for the spool of a node that left on its own and did not empty it, and for nothing of one that did", async () => {
  for (const isEmpty of [true, false]) {
    await using other = await another(`left ${isEmpty}`);
    const { grant, start } = await publish(other.domains);
    const { sessionId } = start;
    await tell(other.domains, segment(grant, sessionId, 1));
    if (isEmpty)
      await tell(other.domains, ...["source", "audio"].map((rendition) => sealed(grant, sessionId, rendition)));
    await tell(other.domains, ended(grant, "clean-stop"));
    await other.domains.node.leave();
    await pass(30_000);
    expect(await readSession(sessionId)).toMatchObject({ recordingStatus: isEmpty ? "ready" : "waiting" });
  }
});

describe("a node's name", () => {
  it("that another running process has is refused, with what to do", async () => {
    await using running = await another("copied");
    await using copy = disposable(kit.another("copied", "another folder"));
    let isOver = false;
    const joined = copy.domains.node.join().finally(() => {
      isOver = true;
    });
    const refused = expect(joined).rejects.toThrow(/data folder is a copy .* node-name/);
    // The copy looks again after each half second of its clock, and waits for the database in between.
    while (!isOver) {
      await running.domains.node.heartbeat();
      kit.clock.advance(500);
      await setImmediate();
    }
    await refused;
  });

  it("is free once its lease is over, and at once for the next process on the same folder", async () => {
    const gone = kit.another("killed");
    await gone.node.join();
    await gone.close();
    await using again = disposable(kit.another("killed"));
    await again.domains.node.join();
    expect(again.domains.node.id).toBe(gone.node.id);
    await kit.db
      .updateTable("node")
      .set({ seen_at: new Date(0) })
      .where("name", "=", "killed")
      .execute();
    await using moved = disposable(kit.another("killed", "another folder"));
    await moved.domains.node.join();
    expect(moved.domains.node.id).toBe(gone.node.id);
    // The one before it was away, and does not take the name back.
    await again.domains.node.heartbeat();
    expect(again.domains.node.id).not.toBe(gone.node.id);
    await moved.domains.node.heartbeat();
    expect(moved.domains.node.id).toBe(gone.node.id);
  });
});
