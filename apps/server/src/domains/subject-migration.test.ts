import { sql } from "kysely";
import { expect, it } from "vitest";
import { EventLog } from "./events/index.ts";
import { newId } from "./ids.ts";
import { openOlderDatabase } from "./older-schema-test-kit.ts";
import { streamSubject } from "./subject.ts";
import { readViewership, readViewsNow } from "./views/view-store.ts";
import { claimQueues, readHeads } from "./webhooks/delivery-store.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const TODAY = 1_700_006_400_000;

it("events, deliveries and views that were stored by stream are found by subject, in their order", async () => {
  await using older = await openOlderDatabase(11);
  const { db } = older;
  const [userId, projectId, streamId, sessionId, webhookId, nodeId] = Array.from({ length: 6 }, newId);
  const owner = { projectId: projectId ?? "", userId: userId ?? "" };
  const execute = async (...statements: readonly ReturnType<typeof sql>[]) => {
    for (const statement of statements) await statement.execute(db);
  };
  await execute(
    sql`insert into account (id, name, created_at) values (${userId}, 'a', 1)`,
    sql`insert into project (id, user_id, name, created_at) values (${projectId}, ${userId}, 'p', 1)`,
    sql`insert into node (id, name, region, roles, state) values (${nodeId}, 'n', '', '{media}', 'serving')`,
    sql`insert into stream
      (id, project_id, user_id, name, creator_id, stream_key, playback_id, profiles, record, created_at, state_since)
      values (${streamId}, ${projectId}, ${userId}, 's', 'ada', 'key', 'stream', '[]', true, 1, 1)`,
    sql`insert into session
      (id, project_id, user_id, stream_id, name, profiles, record, created_at, epoch, recording, recording_playback_id, last_seen)
      values (${sessionId}, ${projectId}, ${userId}, ${streamId}, 's', '[]', true, 1, 1, 'ready', 'recording', 1)`,
    sql`insert into stream_sequence (stream_id, seq) values (${streamId}, 3)`,
  );
  for (const [kind, day, seq] of [
    ["lifecycle", TODAY - DAY_MS, 1],
    ["telemetry", TODAY, 2],
    ["lifecycle", TODAY, 3],
  ] as const) {
    const table = sql.table(`event_${kind}`);
    const ofDay = sql.table(`event_${kind}_${new Date(day).toISOString().slice(0, 10).replaceAll("-", "")}`);
    await execute(
      sql`create table ${ofDay} partition of ${table}
        for values from (${sql.lit(day)}) to (${sql.lit(day + DAY_MS)})`,
      sql`insert into ${table} (stream_id, seq, at, project_id, user_id, type, v, data)
        values (${streamId}, ${seq}, ${day + seq}, ${projectId}, ${userId}, 'event_gap', 1, '{"dropped": 1}')`,
    );
  }
  await execute(
    sql`insert into webhook_delivery (webhook_id, stream_id, seq, event_at, event, created_at)
      values (${webhookId}, ${streamId}, 3, ${TODAY + 3}, 'stream.idle', 1)`,
    sql`insert into webhook_queue (webhook_id, stream_id, due_at) values (${webhookId}, ${streamId}, 1)`,
    sql`insert into view_hour (playback_id, hour, project_id, user_id, stream_id, asset_id, view_count)
      values ('stream', ${TODAY}, ${projectId}, ${userId}, ${streamId}, null, 5),
        ('recording', ${TODAY}, ${projectId}, ${userId}, ${streamId}, ${sessionId}, 2)`,
    sql`insert into viewer_count (node_id, playback_id, project_id, user_id, stream_id, asset_id, viewers, told_at)
      values (${nodeId}, 'stream', ${projectId}, ${userId}, ${streamId}, null, 4, ${TODAY}),
        (${nodeId}, 'recording', ${projectId}, ${userId}, ${streamId}, ${sessionId}, 1, ${TODAY})`,
  );

  await older.migrate();

  const log = new EventLog();
  const subject = streamSubject(streamId ?? "");
  const told = async () => (await log.since(db, subject, 0, 10)).map(({ seq, event }) => [seq, event.streamId]);
  expect(await told()).toEqual([1, 2, 3].map((seq) => [seq, streamId]));
  const body = { type: "event_gap", dropped: 1 } as const;
  await db
    .transaction()
    .execute((trx) => log.append(trx, [{ subject, owner, at: TODAY + 4, kind: "lifecycle", body }]));
  expect(await told()).toEqual([1, 2, 3, 4].map((seq) => [seq, streamId]));

  const limits = { limit: 9, limitOfOne: 9, limitOfProject: 9, busy: new Map() };
  const [queue, ...others] = await claimQueues(db, { nodeId: nodeId ?? "", now: TODAY, ...limits });
  if (!queue) throw new Error("no queue was claimed");
  expect([queue, others]).toEqual([{ webhookId, subject, lane: "0" }, []]);
  expect(await readHeads(db, queue, 9)).toMatchObject([{ seq: 3, event: "stream.idle", data: { dropped: 1 } }]);

  for (const [kind, id, views, viewers] of [
    ["stream", streamId, 5, 4],
    ["asset", sessionId, 2, 1],
  ] as const) {
    const of = { subjects: [{ kind, id: id ?? "" }], creatorId: "ada" };
    const stretch = { from: TODAY, to: TODAY + HOUR_MS, step: null };
    expect(await readViewership(db, owner, { of, by: [], ...stretch })).toMatchObject([{ viewCount: views }]);
    expect(await readViewsNow(db, owner, { of, by: [], now: TODAY })).toMatchObject([{ viewCount: viewers }]);
  }
});
