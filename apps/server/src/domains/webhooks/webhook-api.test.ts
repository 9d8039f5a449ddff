import type { Stream, Webhook, WebhookLog } from "@weir/contract";
import { afterAll, describe, expect, it } from "vitest";
import { startWebhookReceiver } from "../../../test/support/webhook-receiver.ts";
import { addProject, startTestDomains } from "../domain-test-kit.ts";
import { findAccessWebhook } from "./webhook-store.ts";

const kit = await startTestDomains();
const receiver = await startWebhookReceiver();
afterAll(async () => {
  await kit[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

const input = {
  name: "hook",
  url: receiver.url,
  events: ["stream.started", "stream.idle"],
  sharedSecret: "never shown",
};
const create = async (more: object = {}): Promise<Webhook> =>
  (await kit.call("POST", "/api/webhook", { ...input, ...more })).json();
const read = async (id: string): Promise<Webhook> => (await kit.call("GET", `/api/webhook/${id}`)).json();

describe("a webhook", () => {
  it("is made with 200 and shown without its secret", async () => {
    const answer = await kit.call("POST", "/api/webhook", input);
    expect(answer.statusCode).toBe(200);
    const webhook = answer.json<Webhook>();
    expect(webhook).toMatchObject({
      kind: "webhook",
      name: "hook",
      url: receiver.url,
      events: input.events,
      isSigned: true,
      createdAt: kit.clock.now(),
      status: { waiting: 0, failuresInARow: 0 },
    });
    expect(await read(webhook.id)).toEqual(webhook);
    const list = await kit.call("GET", "/api/webhook");
    expect(list.json()).toContainEqual(webhook);
    expect(answer.body + list.body).not.toContain(input.sharedSecret);
  });

  it.each([
    [{}, "required"],
    [{ name: "x", url: "ftp://example.com", events: [] }, "pattern"],
    [{ name: "x", url: "http://example.com", events: ["stream.exploded"] }, "enum"],
    [{ ...input, surprise: 1 }, "additionalProperties"],
  ])("%o is 422: %s", async (body, keyword) => {
    const answer = await kit.call("POST", "/api/webhook", body);
    expect(answer.statusCode).toBe(422);
    expect(JSON.parse(answer.json().errors[0]).keyword).toBe(keyword);
  });

  it.each([
    "http://user:secret@example.com/",
    "http://127.1/",
    "http://example.com:6379/",
    "http://weir.test/api/stream",
  ])("to %s is 400 with a sentence", async (url) => {
    const answer = await kit.call("POST", "/api/webhook", { ...input, url });
    expect(answer.statusCode).toBe(400);
    expect(answer.json().errors[0]).toMatch(/^webhooks cannot be sent to this url: /);
    const { id } = await create();
    expect((await kit.call("PATCH", `/api/webhook/${id}`, { url })).statusCode).toBe(400);
    expect((await kit.call("PUT", `/api/webhook/${id}`, { ...input, url })).statusCode).toBe(400);
  });

  it("about a stream that is not there is 400", async () => {
    const answer = await kit.call("POST", "/api/webhook", { ...input, streamId: "none" });
    expect([answer.statusCode, answer.json().errors[0]]).toEqual([400, "stream not found"]);
  });

  it("is replaced whole: what is not given is gone", async () => {
    const stream = (await kit.call("POST", "/api/stream", { name: "s" })).json<Stream>();
    const { id, createdAt } = await create({ streamId: stream.id });
    const answer = await kit.call("PUT", `/api/webhook/${id}`, {
      name: "new",
      url: receiver.url,
      events: ["task.failed"],
    });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual(await read(id));
    expect(answer.json()).toMatchObject({ id, createdAt, name: "new", events: ["task.failed"], isSigned: false });
    expect(answer.json()).not.toHaveProperty("streamId");
  });

  it("is replaced by the record that was read, and keeps the secret that no record shows", async () => {
    const record = { ...(await create()), name: "renamed" };
    const answer = await kit.call("PUT", `/api/webhook/${record.id}`, record);
    expect([answer.statusCode, answer.json()]).toEqual([200, record]);
    const other = { ...record, id: "another", userId: "somebody", createdAt: 1, kind: "none", status: null };
    expect((await kit.call("PUT", `/api/webhook/${record.id}`, other)).json()).toEqual(record);
    const unsigned = await kit.call("PUT", `/api/webhook/${record.id}`, { ...record, isSigned: false });
    expect(unsigned.json()).toMatchObject({ isSigned: false });
  });

  it("may be given its only event as `event`", async () => {
    const { events: _, ...rest } = input;
    const answer = await kit.call("POST", "/api/webhook", { ...rest, event: "stream.idle" });
    expect([answer.statusCode, answer.json().events]).toEqual([200, ["stream.idle"]]);
    const none = await kit.call("POST", "/api/webhook", rest);
    expect(JSON.parse(none.json().errors[0])).toMatchObject({
      keyword: "required",
      params: { missingProperty: "events" },
    });
  });

  it("is patched in part with 204", async () => {
    const webhook = await create();
    expect((await kit.call("PATCH", `/api/webhook/${webhook.id}`, { name: "other" })).statusCode).toBe(204);
    expect(await read(webhook.id)).toEqual({ ...webhook, name: "other" });
  });

  it("is deleted with what it was; many with 204, or none of them", async () => {
    const webhook = await create();
    const answer = await kit.call("DELETE", `/api/webhook/${webhook.id}`);
    expect([answer.statusCode, answer.json()]).toEqual([200, webhook]);
    expect((await kit.call("GET", `/api/webhook/${webhook.id}`)).statusCode).toBe(404);
    const two = [(await create()).id, (await create()).id];
    expect((await kit.call("DELETE", "/api/webhook", { ids: [...two, webhook.id] })).statusCode).toBe(404);
    expect((await kit.call("DELETE", "/api/webhook", {})).statusCode).toBe(422);
    expect((await kit.call("DELETE", "/api/webhook", { ids: two })).statusCode).toBe(204);
    expect((await kit.call("GET", `/api/webhook/${two[0]}`)).statusCode).toBe(404);
  });

  it("is found by what it is about", async () => {
    const { id } = await create({ events: ["asset.deleted"] });
    expect(
      (await kit.call("GET", "/api/webhook/subscribed/asset.deleted")).json<Webhook[]>().map((hook) => hook.id),
    ).toEqual([id]);
    expect((await kit.call("GET", "/api/webhook/subscribed/asset.exploded")).statusCode).toBe(404);
  });

  it("lets viewers in only where it is registered for that, and in its own project", async () => {
    const { id, projectId } = await create({ events: ["playback.accessControl"] });
    expect(await findAccessWebhook(kit.db, projectId, id)).toEqual({
      id,
      url: receiver.url,
      sharedSecret: "never shown",
    });
    expect(await findAccessWebhook(kit.db, (await addProject(kit.db, "other")).userId, id)).toBeUndefined();
    expect(await findAccessWebhook(kit.db, projectId, (await create()).id)).toBeUndefined();
    expect(await findAccessWebhook(kit.db, projectId, "x")).toBeUndefined();
  });
});

describe("a test event", () => {
  it("is sent at once, signed, and its call is in the log", async () => {
    const { id } = await create();
    receiver.answer = (response) => void response.writeHead(201).end("hello ".repeat(400));
    const answer = await kit.call("POST", `/api/webhook/${id}/test`);
    expect(answer.statusCode).toBe(200);
    const log = answer.json<WebhookLog>();
    const { text, headers } = receiver.calls.at(-1) ?? {};
    expect(log).toMatchObject({ webhookId: id, event: "stream.started", success: true, attempt: 1 });
    expect(log.request).toMatchObject({ url: receiver.url, method: "POST", body: text });
    expect(headers?.["livepeer-signature"]).toBe(log.request.headers["livepeer-signature"]);
    expect(Buffer.from(log.response?.body ?? "", "base64").toString()).toBe("hello ".repeat(400).slice(0, 1024));
    expect(log.response).toMatchObject({ status: 201, statusText: "Created" });
    expect((await kit.call("GET", `/api/webhook/${id}/log`)).json()).toEqual([log]);
    expect((await kit.call("GET", `/api/webhook/${id}/log/${log.id}`)).json()).toEqual(log);
  });

  it("and four more of one project may be under way, and another project's is not held up", async () => {
    const { apiKey } = await addProject(kit.db, "neighbour");
    const headers = { authorization: `Bearer ${apiKey}` };
    const theirs = (await kit.call("POST", "/api/webhook", input, headers)).json<Webhook>();
    const { id } = await create();
    const waiting: (() => void)[] = [];
    receiver.answer = (response) => void waiting.push(() => response.writeHead(200).end());
    const mine = Array.from({ length: 5 }, () => kit.call("POST", `/api/webhook/${id}/test`));
    await expect.poll(() => waiting.length).toBe(5);
    expect((await kit.call("POST", `/api/webhook/${id}/test`)).statusCode).toBe(429);
    const neighbours = kit.call("POST", `/api/webhook/${theirs.id}/test`, undefined, headers);
    await expect.poll(() => waiting.length).toBe(6);
    for (const answer of waiting) answer();
    expect((await Promise.all([...mine, neighbours])).map(({ statusCode }) => statusCode)).toEqual(
      new Array(6).fill(200),
    );
  });

  it("that meets nobody is a call that failed, with a sentence", async () => {
    const gone = await startWebhookReceiver();
    await gone[Symbol.asyncDispose]();
    const { id } = await create({ url: gone.url });
    const log = (await kit.call("POST", `/api/webhook/${id}/test`)).json<WebhookLog>();
    expect(log).toMatchObject({ success: false, error: "the connection was refused" });
    expect(log).not.toHaveProperty("response");
  });

  it("is sent again as it was, at another time and signed anew", async () => {
    const { id } = await create();
    receiver.answer = (response) => void response.end();
    const first = (await kit.call("POST", `/api/webhook/${id}/test`, { event: "stream.idle" })).json<WebhookLog>();
    kit.clock.advance(1000);
    const answer = await kit.call("POST", `/api/webhook/${id}/log/${first.id}/resend`);
    expect(answer.statusCode).toBe(200);
    const again = answer.json<WebhookLog>();
    expect(again.id).not.toBe(first.id);
    expect(JSON.parse(again.request.body)).toEqual({ ...JSON.parse(first.request.body), timestamp: kit.clock.now() });
    expect(again.request.headers["service-signature"]).toMatch(`t=${kit.clock.now()},v1=`);
    const other = (await create()).id;
    expect((await kit.call("POST", `/api/webhook/${other}/log/${first.id}/resend`)).statusCode).toBe(404);
  });

  it("is in a list that can be narrowed", async () => {
    const { id } = await create();
    receiver.answer = (response) => void response.writeHead(500).end();
    await kit.call("POST", `/api/webhook/${id}/test`);
    receiver.answer = (response) => void response.end();
    await kit.call("POST", `/api/webhook/${id}/test`);
    const filters = encodeURIComponent(JSON.stringify([{ id: "success", value: false }]));
    const logs = (await kit.call("GET", `/api/webhook/${id}/log?filters=${filters}`)).json<WebhookLog[]>();
    expect(logs.map((log) => log.response?.status)).toEqual([500]);
  });
});
