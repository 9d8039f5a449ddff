import { verifyWebhook } from "@weir/client";
import type { Webhook, WebhookEventName, WebhookLog, WebhookRequests } from "@weir/contract";
import { sql } from "kysely";
import { afterEach, describe, expect, it } from "vitest";
import { startWebhookReceiver, type WebhookReceiver } from "../../../test/support/webhook-receiver.ts";
import { EventLog, type NewEvent } from "../events/index.ts";
import { newId } from "../ids.ts";
import {
  disposable,
  ended,
  events,
  kit,
  now,
  pass,
  publish,
  sealed,
  segment,
  setUpLiveRig,
  stream,
  tell,
} from "../live-test-rig.ts";
import { assetSubject, type Subject, streamSubject } from "../subject.ts";
import { queueDeliveries } from "./delivery-outbox.ts";
import { forgetOldDeliveries } from "./delivery-store.ts";
import { forgetOldCalls } from "./webhook-log-store.ts";

setUpLiveRig();

const SECRET = "shared secret of a test";
const HOUR = 3_600_000;
const receivers: WebhookReceiver[] = [];

afterEach(async () => {
  await kit.db.deleteFrom("webhook").execute();
  await kit.domains.deliveries.run();
  for (const receiver of receivers.splice(0)) await receiver[Symbol.asyncDispose]();
});

async function subscribe(more: object = {}): Promise<{ receiver: WebhookReceiver; webhook: Webhook }> {
  const receiver = await startWebhookReceiver();
  receivers.push(receiver);
  const events = ["stream.started", "stream.idle"];
  const body = { name: "hook", url: receiver.url, events, sharedSecret: SECRET, ...more };
  return { receiver, webhook: (await kit.call("POST", "/api/webhook", body)).json() };
}

const statusOf = async ({ id }: Webhook) => (await kit.call("GET", `/api/webhook/${id}`)).json<Webhook>().status;
const logsOf = async ({ id }: Webhook) => (await kit.call("GET", `/api/webhook/${id}/log`)).json<WebhookLog[]>();
const queued = async () =>
  Number((await sql<{ n: string }>`select count(*) as n from webhook_queue`.execute(kit.db)).rows[0]?.n);
const heard = ({ calls }: WebhookReceiver) => calls.map(({ body }) => body.event);

/** The stream goes live and is idle again: two events. */
async function broadcast(): Promise<void> {
  const { grant } = await publish();
  await tell(kit.domains, ended(grant, "clean-stop"));
}

const deliver = () => kit.domains.deliveries.run();
/** By the wall clock alone: a day of everybody's timers would take its time. */
async function deliverAfter(ms: number): Promise<void> {
  kit.clock.stepWall(ms);
  await deliver();
}

describe("an event", () => {
  it("is told with its id in the log, signed, with the stream and without its key", async () => {
    const { receiver, webhook } = await subscribe();
    await broadcast();
    await deliver();
    const [started, idle] = receiver.calls;
    expect(started?.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      webhookId: webhook.id,
      createdAt: now(),
      timestamp: now(),
      event: "stream.started",
      stream: expect.objectContaining({ id: stream.id, name: "stage", playbackId: stream.playbackId }),
    });
    expect(idle?.body).toMatchObject({ event: "stream.idle", stream: { isActive: false } });
    expect(started?.text).not.toContain(stream.streamKey);
    expect(started?.headers).toMatchObject({ "content-type": "application/json", "user-agent": "weir" });
    const signature = String(started?.headers["service-signature"]);
    expect(started?.headers["livepeer-signature"]).toBe(signature);
    const signed = { body: started?.text ?? "", signature, sharedSecret: SECRET, now: now() };
    expect(await verifyWebhook(signed)).toEqual(started?.body);
    expect(await statusOf(webhook)).toEqual({ lastTriggeredAt: now(), waiting: 0, failuresInARow: 0 });
    expect(await queued()).toBe(0);
  });

  it("of another stream or another kind is not told", async () => {
    const { receiver } = await subscribe({ streamId: stream.id, events: ["stream.idle"] });
    const other = (await kit.call("POST", "/api/stream", { name: "other" })).json();
    await broadcast();
    await kit.domains.publishGate.authorize({ protocol: "rtmp", streamKey: other.streamKey, remoteAddress: "" });
    await deliver();
    expect(heard(receiver)).toEqual(["stream.idle"]);
  });

  it("of an asset is told in the order of its own log, without a stream, and not to a webhook of one stream", async () => {
    const { receiver } = await subscribe();
    const { receiver: ofStream } = await subscribe({ streamId: stream.id });
    const log = new EventLog((trx, placed) => queueDeliveries(trx, placed, now()));
    const asset = assetSubject(newId());
    const owner = { projectId: stream.projectId ?? "", userId: stream.userId ?? "" };
    const eventOf = (subject: Subject, event: WebhookEventName): NewEvent => {
      const body = { type: "webhook_event", event, userId: owner.userId } as const;
      return { subject, owner, at: now(), kind: "lifecycle", body };
    };
    const events = [
      eventOf(asset, "stream.started"),
      eventOf(streamSubject(stream.id), "stream.started"),
      eventOf(asset, "stream.idle"),
    ];
    await kit.db.transaction().execute((trx) => log.append(trx, events));
    const logged = await log.since(kit.db, asset, 0, 10);
    expect(logged.map(({ seq, event }) => [seq, event])).toEqual([
      [1, expect.objectContaining({ assetId: asset.id, event: "stream.started" })],
      [2, expect.objectContaining({ assetId: asset.id, event: "stream.idle" })],
    ]);
    expect(logged[0]?.event).not.toHaveProperty("streamId");
    await deliver();
    const ids = logged.map(({ event }) => event.id);
    const ofAsset = receiver.calls.filter(({ body }) => ids.includes(body.id)).map(({ body }) => body);
    expect(ofAsset.map(({ event, stream }) => [event, stream])).toEqual([
      ["stream.started", undefined],
      ["stream.idle", undefined],
    ]);
    expect(receiver.calls).toHaveLength(3);
    expect(ofStream.calls.map(({ body }) => body.stream)).toEqual([expect.objectContaining({ id: stream.id })]);
  });

  it("whose transaction fails is told to nobody", async () => {
    const { receiver } = await subscribe();
    const log = new EventLog((trx, placed) => queueDeliveries(trx, placed, now()));
    const owner = { projectId: stream.projectId, userId: stream.userId };
    const body = { type: "webhook_event", event: "stream.started", userId: stream.userId } as const;
    const failing = kit.db.transaction().execute(async (trx) => {
      await log.append(trx, [{ subject: streamSubject(stream.id), owner, at: now(), kind: "lifecycle", body }]);
      expect((await trx.selectFrom("webhook_delivery").select("event").execute()).length).toBe(1);
      throw new Error("rolled back");
    });
    await expect(failing).rejects.toThrow("rolled back");
    await deliver();
    expect([receiver.calls, await queued()]).toEqual([[], 0]);
  });

  it("of a recording is told as it begins, when its session has ended, and once it plays", async () => {
    const { receiver } = await subscribe({ events: ["recording.started", "recording.waiting", "recording.ready"] });
    const { grant, start } = await publish();
    await tell(kit.domains, segment(grant, start.sessionId, 1), ended(grant, "clean-stop"));
    await deliver();
    await pass(2_000);
    expect(heard(receiver)).toEqual(["recording.started", "recording.waiting"]);
    expect(receiver.calls[1]?.body.payload).toMatchObject({
      session: { id: start.sessionId, recordingStatus: "waiting" },
    });
    await tell(kit.domains, sealed(grant, start.sessionId, "source"), sealed(grant, start.sessionId, "audio"));
    await pass(5_000);
    await deliver();
    const recordingUrl = expect.stringMatching(/^http:\/\/weir\.test\/asset\/hls\/\w{16}\/index\.m3u8$/);
    expect(receiver.calls[2]?.body).toMatchObject({
      event: "recording.ready",
      payload: {
        recordingUrl,
        mp4Url: expect.any(String),
        session: { recordingStatus: "ready", assetId: start.sessionId },
      },
    });
    // Whoever was told that there is nothing is told otherwise from now on.
    expect(kit.asked.accessChanges.at(-1)).toMatch(/^\w{16}$/);
  });
});

describe("a new viewer", () => {
  const watch = async (id: string) => {
    const count = { playbackId: stream.playbackId, now: 1, begun: 1, newViewers: [id], watchedMs: 0 };
    kit.domains.eventSink.countViewers([count]);
    kit.clock.advance(1_000);
    await expect
      .poll(() => kit.db.selectFrom("viewer_count").selectAll().where("playback_id", "=", stream.playbackId).execute())
      .toHaveLength(1);
  };

  it("is told of where a webhook asks for it", async () => {
    const { receiver } = await subscribe({ events: ["playback.user.new"] });
    await watch("viewer-1");
    await deliver();
    expect(receiver.calls[0]?.body).toMatchObject({
      event: "playback.user.new",
      stream: { id: stream.id },
      payload: { playbackId: stream.playbackId, viewerId: "viewer-1" },
    });
  });

  it("leaves nothing in the log where none does", async () => {
    await subscribe();
    await watch("viewer-2");
    expect(await events()).toEqual([]);
  });
});

describe("a receiver", () => {
  it("that fails gets the same event again, and every other one of the stream after it", async () => {
    const { receiver, webhook } = await subscribe();
    const moods = ["500", "reset", "ok", "503", "ok"];
    receiver.answer = (response) => {
      const mood = moods.shift() ?? "ok";
      if (mood === "reset") response.destroy();
      else response.writeHead(mood === "ok" ? 200 : Number(mood)).end("oh no");
    };
    await broadcast();
    await broadcast();
    await deliver();
    expect(await statusOf(webhook)).toMatchObject({
      waiting: 4,
      failuresInARow: 1,
      lastFailure: {
        timestamp: now(),
        statusCode: 500,
        error: "answered 500 Internal Server Error",
        response: "b2ggbm8=",
      },
    });
    const [{ retryAt } = { retryAt: 0 }] = await logsOf(webhook);
    expect(retryAt).toBeGreaterThan(now() + 3_900);
    expect(retryAt).toBeLessThan(now() + 6_000);
    await deliverAfter(3_900);
    expect(receiver.calls).toHaveLength(1);
    await deliverAfter(2_100);
    expect(receiver.calls).toHaveLength(2);
    for (let i = 0; i < 4; i++) await deliverAfter(12_000);
    const [a, b, c, d, e, ...rest] = receiver.calls.map(({ body }) => body);
    expect([a?.id, b?.id, d?.id]).toEqual([b?.id, c?.id, e?.id]);
    expect(new Set(receiver.calls.map(({ body }) => body.id)).size).toBe(4);
    expect([c, e, ...rest].map((body) => body?.event)).toEqual([
      "stream.started",
      "stream.idle",
      "stream.started",
      "stream.idle",
    ]);
    const reset = "the connection was reset before an answer came";
    expect((await logsOf(webhook))[0]).not.toHaveProperty("retryAt");
    const came = (await logsOf(webhook)).map((log) => `${log.attempt}: ${log.response?.status ?? log.error}`);
    expect(came.sort()).toEqual(["1: 200", "1: 200", "1: 500", "1: 503", "2: 200", `2: ${reset}`, "3: 200"]);
    expect(await statusOf(webhook)).toMatchObject({ waiting: 0, failuresInARow: 0 });
  });

  it("that says no to an event gets the next one", async () => {
    const { receiver } = await subscribe();
    receiver.answer = (response, { body }) =>
      void response.writeHead(body.event === "stream.started" ? 404 : 200).end();
    await broadcast();
    await deliver();
    expect(heard(receiver)).toEqual(["stream.started", "stream.idle"]);
  });

  it("that is stuck with one event for an hour gets the next ones, and the late one marked", async () => {
    const { receiver } = await subscribe();
    let isBroken = true;
    receiver.answer = (response, { body }) => {
      const isStuck = isBroken && body.event === "stream.started";
      response.writeHead(isStuck ? 500 : 200).end();
    };
    const { grant } = await publish();
    await deliver();
    const firstTriedAt = now();
    await tell(kit.domains, ended(grant, "clean-stop"));
    while (now() < firstTriedAt + HOUR - 60_000) await deliverAfter(60_000);
    expect(new Set(heard(receiver))).toEqual(new Set(["stream.started"]));
    while (!heard(receiver).includes("stream.idle")) await deliverAfter(60_000);
    expect(now()).toBe(firstTriedAt + HOUR);
    expect(receiver.calls.at(-1)?.body).not.toHaveProperty("late");
    isBroken = false;
    await deliverAfter(1.3 * HOUR);
    expect(receiver.calls.at(-1)?.body).toMatchObject({ event: "stream.started", late: true });
    expect(receiver.calls.at(-1)?.body.id).toBe(receiver.calls[0]?.body.id);
    expect(await queued()).toBe(0);
  });

  it("that is away for a day is given up on", async () => {
    const { receiver, webhook } = await subscribe({ events: ["stream.started"] });
    receiver.answer = (response) => void response.writeHead(500).end();
    await broadcast();
    const until = now() + 25 * HOUR;
    while (now() < until) await deliverAfter(0.5 * HOUR);
    expect(await statusOf(webhook)).toMatchObject({ waiting: 0 });
    expect(await queued()).toBe(0);
  });

  it("that fails a hundred times in a row is left alone, and gets everything once it is let go on", async () => {
    const { receiver, webhook } = await subscribe();
    await sql`update webhook set failures = 99 where id = ${webhook.id}`.execute(kit.db);
    receiver.answer = (response) => void response.writeHead(500).end();
    await broadcast();
    await deliver();
    expect(await statusOf(webhook)).toMatchObject({
      pausedAt: now(),
      pauseReason: "100 calls in a row failed",
      waiting: 2,
    });
    receiver.answer = (response) => void response.end();
    await deliverAfter(6 * 24 * HOUR);
    expect(receiver.calls).toHaveLength(1);
    await kit.call("PATCH", `/api/webhook/${webhook.id}`, { paused: false });
    await deliver();
    expect(heard(receiver)).toEqual(["stream.started", "stream.started", "stream.idle"]);
    expect(await statusOf(webhook)).toEqual({
      lastTriggeredAt: now(),
      lastFailure: expect.any(Object),
      waiting: 0,
      failuresInARow: 0,
    });
  });

  it("paused by hand for more than a week finds what is older forgotten", async () => {
    const { receiver, webhook } = await subscribe();
    await kit.call("PATCH", `/api/webhook/${webhook.id}`, { paused: true });
    await broadcast();
    kit.clock.stepWall(7 * 24 * HOUR + HOUR);
    await pass(HOUR);
    await forgetOldDeliveries(kit.db, now());
    await broadcast();
    await kit.call("PATCH", `/api/webhook/${webhook.id}`, { paused: false });
    await deliver();
    expect(heard(receiver)).toEqual(["stream.started", "stream.idle"]);
    expect(receiver.calls[0]?.body.createdAt).toBe(now());
  });

  it("whose webhook is deleted hears nothing more, and nothing of it is left", async () => {
    const { receiver, webhook } = await subscribe();
    await broadcast();
    await kit.call("DELETE", `/api/webhook/${webhook.id}`);
    await deliver();
    expect(receiver.calls).toEqual([]);
    expect(await queued()).toBe(0);
    expect(await kit.db.selectFrom("webhook_delivery").selectAll().execute()).toEqual([]);
  });
});

describe("workers", () => {
  it("share the work: nothing is sent twice", async () => {
    const { receiver } = await subscribe();
    await using other = disposable(kit.another("two"));
    await other.domains.node.join();
    for (let i = 0; i < 5; i++) await broadcast();
    await Promise.all([deliver(), other.domains.deliveries.run()]);
    expect(heard(receiver)).toEqual(Array.from({ length: 5 }, () => ["stream.started", "stream.idle"]).flat());
  });

  it("of a killed process leave their claims to who comes after a minute", async () => {
    const { receiver } = await subscribe({ events: ["stream.started"] });
    await broadcast();
    await sql`update webhook_queue set claimed_by = ${stream.id}, claimed_until = ${now() + 60_000}`.execute(kit.db);
    await deliverAfter(59_000);
    expect(receiver.calls).toEqual([]);
    await deliverAfter(1_000);
    expect(heard(receiver)).toEqual(["stream.started"]);
  });

  it("take up at their start what their process held when it was killed", async () => {
    const { receiver } = await subscribe({ events: ["stream.started"] });
    await broadcast();
    await sql`update webhook_queue set claimed_by = ${kit.domains.node.id}, claimed_until = ${now() + 60_000}`.execute(
      kit.db,
    );
    await using after = disposable(kit.another("one"));
    await after.domains.node.join();
    after.domains.deliveries.start();
    await expect.poll(() => heard(receiver)).toEqual(["stream.started"]);
  });

  it("hear of an event by themselves", async () => {
    await using other = disposable(kit.another("two"));
    await other.domains.node.join();
    other.domains.deliveries.start();
    const { receiver } = await subscribe({ events: ["stream.started"] });
    await broadcast();
    await expect.poll(() => heard(receiver)).toEqual(["stream.started"]);
  });
});

describe("a replay", () => {
  it("tells the events of a time range again, in order and under their old ids", async () => {
    const { receiver, webhook } = await subscribe();
    await broadcast();
    kit.clock.advance(10_000);
    const from = now();
    await broadcast();
    kit.clock.advance(10_000);
    const to = now() - 1;
    await broadcast();
    await deliver();
    const before = receiver.calls.splice(0).map(({ body }) => body.id);
    const answer = await kit.call("POST", `/api/webhook/${webhook.id}/replay`, { from, to });
    expect([answer.statusCode, answer.json()]).toEqual([200, { events: 2 }]);
    await deliver();
    expect(receiver.calls.map(({ body }) => body.id)).toEqual(before.slice(2, 4));
    expect(heard(receiver)).toEqual(["stream.started", "stream.idle"]);
  });

  it("is refused while a thousand events wait", async () => {
    const { webhook } = await subscribe();
    await sql`insert into webhook_delivery (webhook_id, subject_kind, subject_id, seq, event_at, event, created_at)
      select ${webhook.id}, 'stream', ${stream.id}, n, 0, 'stream.idle', ${now()}::bigint from generate_series(1, 1000) n`.execute(
      kit.db,
    );
    const answer = await kit.call("POST", `/api/webhook/${webhook.id}/replay`, { from: 0, to: now() });
    expect(answer.statusCode).toBe(429);
    await sql`delete from webhook_delivery`.execute(kit.db);
  });

  it("that ends before it begins is 400", async () => {
    const { webhook } = await subscribe();
    expect((await kit.call("POST", `/api/webhook/${webhook.id}/replay`, { from: 2, to: 1 })).statusCode).toBe(400);
  });
});

it("of the log of calls a week is kept, and the latest thousand", async () => {
  const { webhook } = await subscribe();
  await kit.call("POST", `/api/webhook/${webhook.id}/test`);
  const [row] = await kit.db.selectFrom("webhook_log").select("id").where("webhook_id", "=", webhook.id).execute();
  const copy = (count: number, at: number) =>
    sql`
    insert into webhook_log (id, webhook_id, project_id, event, created_at, duration_ms, attempt, success, url, headers, body)
    select gen_random_uuid(), webhook_id, project_id, event, ${at}::bigint + n, 1, 1, true, url, headers, body
    from webhook_log, generate_series(1, ${count}::int) n where id = ${row?.id}`.execute(kit.db);
  await copy(10, now() - 8 * 24 * HOUR);
  await copy(1_100, now() - 2 * HOUR);
  await forgetOldCalls(kit.db, now());
  const { rows } = await sql<{ n: string; oldest: string }>`
    select count(*) as n, min(created_at) as oldest from webhook_log where webhook_id = ${webhook.id}`.execute(kit.db);
  expect(Number(rows[0]?.n)).toBe(1_000);
  expect(Number(rows[0]?.oldest)).toBeGreaterThan(now() - 3 * HOUR);
});

describe("a receiver that cannot be called", () => {
  const take = (id: string) => kit.call("POST", `/api/webhook/${id}/take`);

  it("takes what waits for its paused webhook, signed and in order, once", async () => {
    const { webhook, receiver } = await subscribe();
    expect((await take(webhook.id)).statusCode).toBe(400);
    await kit.call("PATCH", `/api/webhook/${webhook.id}`, { paused: true });
    await broadcast();
    await deliver();
    const { requests } = (await take(webhook.id)).json<WebhookRequests>();
    expect(requests.map(({ event }) => event)).toEqual(["stream.started", "stream.idle"]);
    for (const { body, headers } of requests) {
      const signed = { body, signature: headers["service-signature"], sharedSecret: SECRET, now: now() };
      expect(await verifyWebhook(signed)).toMatchObject({ webhookId: webhook.id, stream: { id: stream.id } });
    }
    expect((await take(webhook.id)).json()).toEqual({ requests: [] });
    expect([heard(receiver), await queued()]).toEqual([[], 0]);
    expect((await statusOf(webhook)).waiting).toBe(0);
  });

  it("does not hold up others, however many take at once: each event is taken once", async () => {
    const subscribed = await Promise.all(Array.from({ length: 12 }, () => subscribe()));
    const ids = subscribed.map(({ webhook }) => webhook.id);
    for (const id of ids) await kit.call("PATCH", `/api/webhook/${id}`, { paused: true });
    await broadcast();
    const answers = await Promise.all([...ids, ...ids].map(take));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(answers.map(() => 200));
    const taken = answers.flatMap((answer) => answer.json<WebhookRequests>().requests);
    expect(taken).toHaveLength(2 * ids.length);
    expect(await queued()).toBe(0);
  });
});
