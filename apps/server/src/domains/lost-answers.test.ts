import { afterEach, expect, it } from "vitest";
import { DatabaseAway } from "../platform/database-away.ts";
import { silentLog } from "../platform/log.ts";
import { EventLog } from "./events/index.ts";
import { newId } from "./ids.ts";
import { FactQueue, writeLiveFacts } from "./live/index.ts";
import { events, kit, measured, publish, read, segment, setUpLiveRig, stream, transcoded } from "./live-test-rig.ts";
import type { Db } from "./schema.ts";
import { ViewCounter } from "./views/index.ts";
import { forgetOldBatches } from "./written-batches.ts";

setUpLiveRig();

/** Transactions are committed, and while this is set nobody hears of it. */
let losesAnswers = false;
afterEach(() => {
  losesAnswers = false;
});

function losing(db: Db): Db {
  return new Proxy(db, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (name !== "transaction") return typeof value === "function" ? value.bind(target) : value;
      return () => ({
        async execute(work: Parameters<ReturnType<Db["transaction"]>["execute"]>[0]) {
          const answer = await target.transaction().execute(work);
          if (losesAnswers) throw new DatabaseAway(new Error("the connection ended before the answer to COMMIT came"));
          return answer;
        },
      });
    },
  });
}

function queueOfFacts(): FactQueue {
  const writer = newId();
  const { clock } = kit;
  const countViewers = async () => new Map<string, number>();
  const deps = {
    db: losing(kit.db),
    clock,
    log: silentLog,
    events: new EventLog(),
    reconnectWindowMs: 1,
    countViewers,
  };
  return new FactQueue({
    clock,
    log: silentLog,
    write: (facts, dropped, number) => writeLiveFacts(deps, facts, dropped, { writer, number }),
  });
}

it("facts whose COMMIT got no answer are told again, and neither counted nor told as events a second time", async () => {
  const { grant, start } = await publish();
  const queue = queueOfFacts();
  losesAnswers = true;
  const unrecorded = { ...segment(grant, start.sessionId, 1), recorded: [] };
  for (const fact of [unrecorded, measured(grant, start.sessionId), transcoded(grant, start.sessionId, 1)])
    queue.report(fact);
  expect(await queue.settle()).toBe(false);
  // What came meanwhile is written behind it.
  queue.report(transcoded(grant, start.sessionId, 2));
  losesAnswers = false;
  expect(await queue.settle()).toBe(true);
  const told = (await events()).map(({ type }) => type).filter((type) => type !== "stream_state");
  expect(told.filter((type) => type === "media_server_metrics")).toHaveLength(1);
  expect(told.filter((type) => type === "transcode")).toHaveLength(2);
  expect(await read()).toMatchObject({ sourceSegments: 1, transcodedSegments: 2 });
  const hours = kit.db.selectFrom("usage_hour").select("transcoded_ms").where("subject_id", "=", stream.id);
  expect((await hours.execute()).map((row) => Number(row.transcoded_ms))).toEqual([4_000]);
});

it("views whose COMMIT got no answer count once", async () => {
  const node = kit.domains.node;
  const viewers: string[] = [];
  const counter = new ViewCounter({
    db: losing(kit.db),
    clock: kit.clock,
    log: silentLog,
    node,
    onNewViewers: async (_trx, told) => void viewers.push(...told.flatMap(({ viewerIds }) => viewerIds)),
  });
  const audience = { deviceType: "", os: "", browser: "", country: "" };
  const count = (now: number, newViewers: string[]) =>
    counter.countViewers([
      { playbackId: stream.playbackId, audience, now, begun: newViewers.length, watchedMs: 60_000, newViewers },
    ]);
  losesAnswers = true;
  count(1, ["ann"]);
  await counter.flush();
  losesAnswers = false;
  count(2, ["bob"]);
  await counter.flush();
  const [row] = await kit.db.selectFrom("view_hour").selectAll().where("playback_id", "=", stream.playbackId).execute();
  expect(row).toMatchObject({ view_count: "2", playtime_ms: "120000" });
  expect(viewers).toEqual(["ann", "bob"]);
  await counter.close();
});

it("what processes noted that are gone is forgotten after a week", async () => {
  const noted = () => kit.db.selectFrom("written_batch").select("writer").execute();
  const week = 7 * 86_400_000;
  await forgetOldBatches(kit.db, kit.clock.now() + week);
  expect(await noted()).not.toEqual([]);
  await forgetOldBatches(kit.db, kit.clock.now() + week + 1);
  expect(await noted()).toEqual([]);
});
