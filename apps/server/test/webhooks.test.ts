import { verifyWebhook } from "@weir/client";
import { Livepeer } from "livepeer";
import { Events } from "livepeer/models/components/webhook.js";
import { expect, test } from "vitest";
import { shareArena } from "./support/arena.ts";
import { Broadcast } from "./support/broadcast.ts";
import { startWebhookReceiver } from "./support/webhook-receiver.ts";
import { WeirProcess } from "./support/weir-process.ts";

const SECRET = "the secret of a test";

const arena = shareArena();

test("webhooks report a broadcast's progress, and its recording once its URL plays", async () => {
  const { weir } = arena;
  await using receiver = await startWebhookReceiver();
  const played: unknown[] = [];
  receiver.answer = (response, { body }) => {
    response.end();
    const { recordingUrl } = (body.payload ?? {}) as { recordingUrl?: string };
    if (recordingUrl) void fetch(recordingUrl).then(async (answer) => played.push(answer.status, await answer.text()));
  };
  const stream = await weir.client.streams.create({ name: "told of", profiles: [], record: true });
  await weir.client.webhooks.create({
    name: "all",
    url: receiver.url,
    sharedSecret: SECRET,
    streamId: stream.id,
    events: ["stream.started", "stream.idle", "recording.started", "recording.waiting", "recording.ready"],
  });
  await using broadcast = new Broadcast(weir, weir, stream, {});
  await broadcast.publish();
  await broadcast.untilSegments(1);
  await broadcast.publisher.stop();
  const { recordingUrl, mp4Url } = await broadcast.recorded();
  await expect.poll(() => receiver.calls.length, { timeout: 30_000 }).toBe(5);

  expect(receiver.calls.map(({ body }) => body.event)).toEqual([
    "stream.started",
    "recording.started",
    "stream.idle",
    "recording.waiting",
    "recording.ready",
  ]);
  expect(receiver.calls[4]?.body.payload).toMatchObject({ recordingUrl, mp4Url });
  await expect.poll(() => played).toEqual([200, expect.stringContaining("#EXTM3U")]);
  for (const { text, headers, body } of receiver.calls) {
    expect(text).not.toContain(broadcast.stream.streamKey);
    const signed = { body: text, signature: String(headers["service-signature"]), sharedSecret: SECRET };
    expect(await verifyWebhook(signed)).toEqual(body);
  }
});

test("the public client creates, updates, tests and deletes webhooks", async () => {
  const { weir } = arena;
  await using receiver = await startWebhookReceiver();
  const { webhook: webhooks } = new Livepeer({ apiKey: weir.apiKey, serverURL: `${weir.url}/api` });
  // No event of the tests beside this one: `stream.detection` never occurs.
  const input = { name: "hook", url: receiver.url, events: [Events.StreamDetection, Events.PlaybackAccessControl] };
  const made = (await webhooks.create({ ...input, sharedSecret: SECRET })).webhook;
  expect(made).toMatchObject({ ...input, createdAt: expect.any(Number) });
  const id = made?.id ?? "";
  expect((await webhooks.get(id)).webhook).toEqual(made);
  expect((await webhooks.getAll()).data).toContainEqual(made);
  expect((await webhooks.update({ ...input, name: "renamed" }, id)).webhook).toMatchObject({ id, name: "renamed" });

  const tried = await weir.client.webhooks.test(id);
  const [log] = (await webhooks.getLogs(id)).data ?? [];
  expect(log).toMatchObject({ id: tried.id, success: true, response: { status: 200 } });
  expect((await webhooks.getLog(id, tried.id)).webhookLog).toEqual(log);
  expect((await webhooks.resendLog(id, tried.id)).webhookLog).toMatchObject({ webhookId: id, success: true });
  expect(receiver.calls).toHaveLength(2);
  expect((await webhooks.delete(id)).webhook).toMatchObject({ id, name: "renamed" });
  await expect(webhooks.get(id)).rejects.toMatchObject({ statusCode: 404 });
});

test("a webhook to loopback is refused unless private addresses are allowed", async () => {
  await using weir = await WeirProcess.start();
  const webhook = { name: "inward", url: "http://127.0.0.1:8099/", events: ["stream.started" as const] };
  await expect(weir.client.webhooks.create(webhook)).rejects.toMatchObject({
    status: 400,
    errors: [expect.stringContaining("WEIR_ALLOW_PRIVATE_URLS=1")],
    code: "private-address",
  });
});
