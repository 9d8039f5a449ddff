import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { signAccessJwt, verifyWebhook } from "@weir/client";
import type { AccessTrialResult, CreatedSigningKey, OwnerToken, Stream, Webhook } from "@weir/contract";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { addProject, startTestDomains, viewerOf } from "../domain-test-kit.ts";

const PATH = "/api/access-control/try";

const kit = await startTestDomains();
afterAll(() => kit[Symbol.asyncDispose]());

const key = (await kit.call("POST", "/api/access-control/signing-key")).json<CreatedSigningKey>();
const { privateKey, publicKey } = key;
let stream: Stream;
beforeEach(async () => {
  const body = { name: "stage", playbackPolicy: { type: "jwt" } };
  stream = (await kit.call("POST", "/api/stream", body)).json();
});

const tokenFor = (playbackId: string, age = 0) =>
  signAccessJwt({ privateKey, publicKey, playbackId, expiration: "1h", now: kit.clock.now() - age });
const attempt = async (body: object): Promise<AccessTrialResult> =>
  (await kit.call("POST", PATH, { playbackId: stream.playbackId, ...body })).json();
const patch = (body: object) => kit.call("PATCH", `/api/stream/${stream.id}`, body);

describe("trying what a viewer brings", () => {
  it("says that a good token opens, and why another one would not", async () => {
    const jwt = await tokenFor(stream.playbackId);
    expect(await attempt({ jwt })).toEqual({ allowed: true, reason: "The token is valid." });
    const reasons = {
      nothing: await attempt({}),
      key: await attempt({ accessKey: "x" }),
      other: await attempt({ jwt: await tokenFor("zzzz000000000000") }),
      old: await attempt({ jwt: await tokenFor(stream.playbackId, 3_600_000) }),
      broken: await attempt({ jwt: `${jwt}=` }),
    };
    expect(reasons).toEqual({
      nothing: { allowed: false, reason: "The content needs a signed token, and none was given." },
      key: { allowed: false, reason: "The content needs a signed token, and none was given." },
      other: { allowed: false, reason: "The token's sub is another playback id." },
      old: { allowed: false, reason: "The token has expired." },
      broken: { allowed: false, reason: "The token's signature is not base64url without padding." },
    });
  });

  it("goes by the rows as they are now", async () => {
    const jwt = await tokenFor(stream.playbackId);
    const setDisabled = (disabled: boolean) =>
      kit.call("PATCH", `/api/access-control/signing-key/${key.id}`, { disabled });
    await setDisabled(true);
    expect(await attempt({ jwt })).toEqual({ allowed: false, reason: "The token's signing key is disabled." });
    await setDisabled(false);
    await patch({ playbackPolicy: { type: "jwt", allowedOrigins: ["https://page.test"] } });
    expect(await attempt({ jwt, origin: "https://page.test" })).toMatchObject({ allowed: true });
    expect(await attempt({ jwt, origin: "https://evil.test" })).toMatchObject({
      allowed: false,
      reason: expect.stringContaining("allowedOrigins"),
    });
    await patch({ playbackPolicy: null });
    expect(await attempt({})).toEqual({ allowed: true, reason: "The content is public." });
    await patch({ suspended: true });
    expect(await attempt({})).toMatchObject({ allowed: false, reason: expect.stringContaining("suspended") });
  });

  it("is for what is one's own", async () => {
    const { apiKey } = await addProject(kit.db, "trial");
    const body = { playbackId: stream.playbackId, jwt: await tokenFor(stream.playbackId) };
    expect((await kit.call("POST", PATH, body, { authorization: apiKey })).statusCode).toBe(404);
    for (const playbackId of ["zzzz000000000000", "nope"]) {
      expect((await kit.call("POST", PATH, { playbackId })).statusCode).toBe(404);
    }
    expect((await kit.call("POST", PATH, {})).statusCode).toBe(422);
    await kit.call("DELETE", `/api/stream/${stream.id}`);
    expect((await kit.call("POST", PATH, body)).statusCode).toBe(404);
  });
});

describe("an owner token", () => {
  const mint = (playbackId: string, headers?: Record<string, string>) =>
    kit.call("POST", "/api/access-control/owner-token", { playbackId }, headers);

  it("is given for what is one's own, and opens the gate of every node", async () => {
    const { token, expiresAt } = (await mint(stream.playbackId)).json<OwnerToken>();
    expect(expiresAt).toBe(kit.clock.now() + 3_600_000);
    for (const { playbackGate } of [kit.domains, kit.another("two")]) {
      const request = viewerOf(stream.playbackId, { tokens: [token] });
      expect(await playbackGate.open(request)).toMatchObject({ ok: true, pass: { kind: "owner" } });
    }
  });

  it("is refused to another project, and for what does not exist", async () => {
    const { apiKey } = await addProject(kit.db, "owner-token");
    expect((await mint(stream.playbackId, { authorization: apiKey })).statusCode).toBe(404);
    expect((await mint("zzzz000000000000")).statusCode).toBe(404);
  });
});

describe("policies of streams", () => {
  const create = (playbackPolicy: object) => kit.call("POST", "/api/stream", { name: "stage", playbackPolicy });

  it("are kept as they were given", async () => {
    const playbackPolicy = { type: "jwt", refreshInterval: 30, allowedOrigins: ["https://page.test"] };
    expect((await create(playbackPolicy)).json()).toMatchObject({ playbackPolicy });
    expect((await patch({ playbackPolicy })).statusCode).toBe(204);
    expect((await kit.call("GET", `/api/stream/${stream.id}`)).json()).toMatchObject({ playbackPolicy });
  });

  it("of type webhook without an id are told that it is missing, not that it was not found", async () => {
    const message =
      "playbackPolicy.webhookId is missing: a policy of type webhook needs the id of a webhook for playback.accessControl";
    for (const answer of [
      await create({ type: "webhook" }),
      await patch({ playbackPolicy: { type: "webhook", webhookId: "" } }),
    ])
      expect([answer.statusCode, answer.json()]).toMatchObject([400, { code: "missing-webhook", message }]);
  });

  it.each([[{ webhookId: "nope" }], [{ webhookId: "00000000-0000-4000-8000-000000000000" }]])(
    "of type webhook need a webhook of the project: %j is none",
    async (policy) => {
      const playbackPolicy = { type: "webhook", ...policy };
      for (const answer of [await create(playbackPolicy), await patch({ playbackPolicy })]) {
        expect([answer.statusCode, answer.json()]).toMatchObject([400, { errors: ["webhook ID not found"] }]);
      }
    },
  );

  it("take a webhook that is registered for it, which is then asked, also in a trial", async () => {
    const asked: { body: string; signature: string | undefined }[] = [];
    const receiver = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      asked.push({ body, signature: String(request.headers["service-signature"]) });
      response.writeHead(JSON.parse(body).accessKey === "good" ? 200 : 403).end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const make = async (...events: string[]) => {
      const body = { name: "gate", url, events, sharedSecret: "shared" };
      return (await kit.call("POST", "/api/webhook", body)).json<Webhook>().id;
    };

    const deaf = await make("stream.started");
    expect((await create({ type: "webhook", webhookId: deaf })).statusCode).toBe(400);
    const webhookId = await make("stream.started", "playback.accessControl");
    const foreign = await addProject(kit.db, "webhooks");
    const body = { name: "stage", playbackPolicy: { type: "webhook", webhookId } };
    expect((await kit.call("POST", "/api/stream", body, { authorization: foreign.apiKey })).statusCode).toBe(400);

    await patch({
      playbackPolicy: { type: "webhook", webhookId, webhookContext: { b: 1, a: [], B: { z: 0.1, "": null } } },
    });
    expect(await attempt({ accessKey: "good" })).toEqual({ allowed: true, reason: "The webhook answered 200." });
    expect(await attempt({ accessKey: "bad" })).toMatchObject({
      allowed: false,
      reason: expect.stringContaining("403"),
    });
    const { playbackId } = stream;
    const open = (accessKey: string) =>
      kit.domains.playbackGate.open(viewerOf(playbackId, { accessKeys: [accessKey] }));
    expect((await open("good")).ok).toBe(true);
    expect((await open("bad")).ok).toBe(false);
    for (const { body, signature } of asked) {
      const call = await verifyWebhook({ body, signature, sharedSecret: "shared", now: kit.clock.now() });
      expect(call).toMatchObject({ context: { b: 1, a: [] } });
      expect(body).toContain('"context":{"b":1,"a":[],"B":{"z":0.1,"":null}},"timestamp"');
    }
    expect(asked).toHaveLength(4);

    const status = async () => (await kit.call("GET", `/api/webhook/${webhookId}`)).json<Webhook>().status;
    await expect.poll(status).toMatchObject({ lastTriggeredAt: kit.clock.now(), failuresInARow: 0 });

    await kit.call("DELETE", `/api/webhook/${webhookId}`);
    kit.clock.advance(2_000);
    expect((await open("good")).ok).toBe(false);
    expect(await attempt({ accessKey: "good" })).toMatchObject({
      allowed: false,
      reason: expect.stringContaining("gone"),
    });
    receiver.closeAllConnections();
    await new Promise((resolve) => receiver.close(resolve));
  });

  it("a context with a number that JavaScript cannot keep is refused", async () => {
    for (const number of ["9007199254740993", "-9007199254740992", "1e400"]) {
      const playbackPolicy = { type: "jwt", webhookContext: { deep: [{ number: 0 }] } };
      const body = JSON.stringify({ name: "stage", playbackPolicy }).replace(":0", `:${number}`);
      const answer = await kit.call("POST", "/api/stream", body, {
        authorization: `Bearer ${kit.apiKey}`,
        "content-type": "application/json",
      });
      expect([answer.statusCode, answer.body]).toEqual([400, expect.stringContaining("2^53")]);
    }
    expect((await create({ type: "jwt", webhookContext: { n: Number.MAX_SAFE_INTEGER } })).statusCode).toBe(201);
  });

  it("have a context of 16 KiB at most, for it goes with every call", async () => {
    const answer = await create({ type: "jwt", webhookContext: { a: "x".repeat(16_384) } });
    expect([answer.statusCode, answer.json().errors[0]]).toEqual([400, expect.stringContaining("webhookContext")]);
  });
});
