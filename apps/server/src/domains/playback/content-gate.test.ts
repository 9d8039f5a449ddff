import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { signAccessJwt } from "@weir/client";
import type { CreatedSigningKey, PlaybackPolicy, Stream } from "@weir/contract";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { DatabaseAway } from "../../platform/database-away.ts";
import { silentLog } from "../../platform/log.ts";
import { Outbound } from "../../platform/outbound/outbound.ts";
import type { PlaybackDecision, PlaybackRequest, ViewerPass } from "../../ports/index.ts";
import { OwnerTokens } from "../access-control/index.ts";
import { addProject, startTestDomains, viewerOf } from "../domain-test-kit.ts";
import { ContentGate, type ViewerLimits } from "./content-gate.ts";
import { PlayableFinder } from "./playable-finder.ts";

const kit = await startTestDomains();
const receiver = await startReceiver();
afterAll(async () => {
  await receiver.close();
  await kit[Symbol.asyncDispose]();
});

const limits: ViewerLimits = { isFull: async () => false, admits: () => true, goesOn: () => {} };
const ownerTokens = new OwnerTokens(async () => Buffer.alloc(32, 7));
let gate: ContentGate;
let key: CreatedSigningKey;
let stream: Stream;

beforeEach(async () => {
  gate = gateWith(limits);
  await kit.db.deleteFrom("signing_key").execute();
  key = (await kit.call("POST", "/api/access-control/signing-key")).json();
  stream = await streamWith({ type: "jwt" });
  receiver.asked.length = 0;
  receiver.answer = (_request, response) => response.writeHead(200).end();
});

it("an asset that was asked for while it was deleted plays as soon as it is restored", async () => {
  const { asset } = (await kit.call("POST", "/api/asset/request-upload", { name: "clip" })).json();
  await kit.db.updateTable("asset").set({ phase: "ready", playable_at: 1 }).where("id", "=", asset.id).execute();
  const mayWatch = async () => (await gate.open(viewerOf(asset.playbackId))).ok;
  await kit.call("DELETE", `/api/asset/${asset.id}`);
  await kit.db.updateTable("asset").set({ playback_id: "0000000000000000" }).where("id", "=", asset.id).execute();
  expect(await mayWatch()).toBe(false);
  await kit.db.updateTable("asset").set({ playback_id: asset.playbackId }).where("id", "=", asset.id).execute();
  await kit.call("POST", `/api/asset/${asset.id}/restore`);
  expect(kit.asked.accessChanges.at(-1)).toBe(asset.playbackId);
  gate.forget(asset.playbackId);
  expect(await mayWatch()).toBe(true);
});

function gateWith(viewerLimits: ViewerLimits, db = kit.db): ContentGate {
  return new ContentGate({
    db,
    clock: kit.clock,
    log: silentLog,
    noteAccessCall: async () => {},
    ownerTokens,
    limits: viewerLimits,
    wantedPulls: { want() {} },
    playables: new PlayableFinder({ db, viewers: db, clock: kit.clock }),
    outbound: new Outbound({
      clock: kit.clock,
      allowPrivate: true,
      own: () => ({ ports: [], publicUrl: "http://weir.test" }),
    }),
    findAccessWebhook: async (_projectId, id) =>
      id === "hook" ? { id, url: receiver.url, sharedSecret: null } : undefined,
  });
}

/** Policies are put into the row itself, so that this is about the gate alone. */
async function streamWith(policy: PlaybackPolicy | null): Promise<Stream> {
  const made = (await kit.call("POST", "/api/stream", { name: "stage", record: true })).json<Stream>();
  await setPolicy(policy, made.id);
  return made;
}

async function setPolicy(policy: PlaybackPolicy | null, id = stream.id): Promise<void> {
  const row = { playback_policy: policy && JSON.stringify(policy) };
  await kit.db.updateTable("stream").set(row).where("id", "=", id).execute();
  gate.forget("all");
}

const tokenFor = (playbackId = stream.playbackId, expiration = 600, { privateKey, publicKey } = key) =>
  signAccessJwt({ privateKey, publicKey, playbackId, expiration, now: kit.clock.now() });
const open = (credentials: Partial<PlaybackRequest> = {}, playbackId = stream.playbackId) =>
  gate.open(viewerOf(playbackId, credentials));
const openBy = async (token: Promise<string>) => open({ tokens: [await token] });
const { viewer } = viewerOf("");
const recheck = (pass: ViewerPass, change: Partial<typeof viewer> = {}) =>
  gate.recheck(stream.playbackId, pass, { ...viewer, ...change });
const DENIED: PlaybackDecision = { ok: false, reason: "denied" };

async function passOf(decision: Promise<PlaybackDecision>): Promise<ViewerPass> {
  const given = await decision;
  if (!given.ok || !given.pass) throw new Error("no pass was given");
  return given.pass;
}

/** A customer's receiver that answers what it is told to. */
async function startReceiver() {
  type Answer = (request: IncomingMessage, response: ServerResponse) => void;
  const state = { asked: [] as Record<string, unknown>[], answer: (() => {}) as Answer };
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    state.asked.push(JSON.parse(text));
    state.answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(state, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/access`,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  });
}

describe("public content", () => {
  it("opens to everybody, whatever they bring, and needs no pass", async () => {
    for (const policy of [null, { type: "public" } as const]) {
      await setPolicy(policy);
      const { id: streamId, projectId } = stream;
      expect(await open({ tokens: ["nonsense"], accessKeys: ["a", "b"] })).toEqual({
        ok: true,
        content: { kind: "live", streamId, projectId },
        pass: null,
        expiresInMs: 4_000,
        perOrigin: false,
        isFull: false,
      });
    }
  });

  it("with a list of origins opens to these alone, and says that its answers differ", async () => {
    await setPolicy({ type: "public", allowedOrigins: ["https://page.test/"] });
    const from = (origin: string | null, referer = "") => open({ viewer: { ...viewer, origin, referer } });
    expect(await from("https://page.test")).toMatchObject({ ok: true, pass: null, perOrigin: true });
    expect(await from(null, "https://page.test/watch")).toMatchObject({ ok: true });
    for (const origin of ["https://evil.test", "null", null]) expect(await from(origin)).toEqual(DENIED);
    await setPolicy({ type: "public", allowedOrigins: ["*"] });
    expect(await from(null)).toMatchObject({ ok: true, perOrigin: false });
  });
});

describe("content with tokens", () => {
  it("opens to a token of its project, until the token ends", async () => {
    const decision = await openBy(tokenFor());
    const pass = { kind: "jwt", signingKeyId: key.id, expiresAt: expect.any(Number) };
    expect(decision).toMatchObject({
      ok: true,
      pass,
      expiresInMs: 4_000,
      content: { kind: "live", streamId: stream.id },
    });
    expect(await openBy(tokenFor(stream.playbackId, 3))).toMatchObject({
      ok: true,
      expiresInMs: 3_000,
    });
  });

  it("denies what is no such token in one and the same way", async () => {
    const other = await streamWith({ type: "jwt" });
    const { apiKey } = await addProject(kit.db, `foreign-${stream.id}`);
    const headers = { authorization: apiKey };
    const foreign = (await kit.call("POST", "/api/access-control/signing-key", {}, headers)).json<CreatedSigningKey>();
    const good = await tokenFor();
    const attempts: [string, Partial<PlaybackRequest>][] = [
      ["nothing", {}],
      ["an access key", { accessKeys: ["key"] }],
      ["an empty token", { tokens: [""] }],
      ["a token that says nothing", { tokens: ["nonsense"] }],
      ["two that differ", { tokens: [good, await tokenFor(stream.playbackId, 601)] }],
      ["one for another playback id", { tokens: [await tokenFor(other.playbackId)] }],
      ["one of another project", { tokens: [await tokenFor(stream.playbackId, 600, foreign)] }],
    ];
    for (const [what, credentials] of attempts) expect([what, await open(credentials)]).toEqual([what, DENIED]);
    // The kind that the policy does not name is no matter.
    expect(await open({ tokens: [good], accessKeys: ["a", "b"] })).toMatchObject({ ok: true });
    expect(await open({ tokens: [good] }, "zzzz000000000000")).toEqual(DENIED);
    for (const id of ["", "nope", "x".repeat(1_000), `${stream.playbackId} `]) {
      expect(await open({ tokens: [good] }, id)).toEqual(DENIED);
    }
  });

  it("a key that is disabled or deleted opens nothing at once when told, within a second otherwise", async () => {
    const token = await tokenFor();
    const pass = await passOf(open({ tokens: [token] }));
    expect(await recheck(pass)).toMatchObject({ ok: true, pass });
    await kit.call("PATCH", `/api/access-control/signing-key/${key.id}`, { disabled: true });
    gate.forget("all");
    expect([await open({ tokens: [token] }), await recheck(pass)]).toEqual([DENIED, DENIED]);
    await kit.call("PATCH", `/api/access-control/signing-key/${key.id}`, { disabled: false });
    kit.clock.advance(1_000);
    expect(await recheck(pass)).toMatchObject({ ok: true });
    await kit.call("DELETE", `/api/access-control/signing-key/${key.id}`);
    kit.clock.advance(1_000);
    expect([await open({ tokens: [token] }), await recheck(pass)]).toEqual([DENIED, DENIED]);
  });

  it("a pass ends with its token", async () => {
    const pass = await passOf(openBy(tokenFor(stream.playbackId, 10)));
    kit.clock.advance(9_000);
    expect(await recheck(pass)).toMatchObject({ ok: true, expiresInMs: 1_000 });
    kit.clock.advance(1_000);
    expect(await recheck(pass)).toEqual(DENIED);
  });

  it("10,000 viewers at once with one token cause one verification", async () => {
    const token = await tokenFor();
    const decisions = await Promise.all(Array.from({ length: 10_000 }, () => open({ tokens: [`${token}`] })));
    expect(decisions.every(({ ok }) => ok)).toBe(true);
    expect(gate.access.tokens.verifications).toBe(1);
  });

  it("the key's record says when it was seen last, exact to a minute", async () => {
    const seen = async () => (await kit.call("GET", `/api/access-control/signing-key/${key.id}`)).json().lastSeen;
    expect(await seen()).toBeUndefined();
    const first = kit.clock.now();
    await openBy(tokenFor());
    await expect.poll(seen).toBe(first);
    kit.clock.advance(60_000);
    await openBy(tokenFor());
    await expect.poll(seen).toBe(first + 60_000);
  });
});

describe("an owner token", () => {
  const HOUR_MS = 3_600_000;
  const mint = async (content: { playbackId: string; projectId: string } = stream) =>
    (await ownerTokens.mint(content, kit.clock.now())).token;

  it.each<PlaybackPolicy>([
    { type: "jwt" },
    { type: "webhook", webhookId: "hook" },
    { type: "public", allowedOrigins: ["https://page.test"] },
  ])("opens content whatever its policy, and asks no webhook: %j", async (policy) => {
    await setPolicy(policy);
    const decision = await open({ tokens: [await mint()] });
    const pass = { kind: "owner", expiresAt: kit.clock.now() + HOUR_MS };
    expect(decision).toMatchObject({ ok: true, pass, expiresInMs: 4_000, content: { streamId: stream.id } });
    expect(receiver.asked).toEqual([]);
  });

  it("is denied for another playback id or project, with another secret, changed, or beside another token", async () => {
    const other = await streamWith({ type: "jwt" });
    const foreign = new OwnerTokens(async () => Buffer.alloc(32, 8));
    const good = await mint();
    const [, claims = "", signature = ""] = good.split(".");
    const longer = Buffer.from(JSON.stringify([stream.playbackId, stream.projectId, kit.clock.now() * 2]));
    const attempts: [string, string[]][] = [
      ["another playback id", [await mint(other)]],
      ["another project", [await mint({ playbackId: stream.playbackId, projectId: "else" })]],
      ["another secret", [(await foreign.mint(stream, kit.clock.now())).token]],
      ["a later end", [`owner.${longer.toString("base64url")}.${signature}`]],
      ["no signature", [`owner.${claims}.`]],
      ["only the signature", [`owner..${signature}`]],
      ["more parts", [`${good}.more`]],
      ["no parts", ["owner."]],
      ["too long", [`owner.${"a".repeat(10_000)}.${signature}`]],
      ["a second token", [good, await tokenFor()]],
    ];
    for (const [what, tokens] of attempts) expect([what, await open({ tokens })]).toEqual([what, DENIED]);
    expect(await open({ tokens: [good] })).toMatchObject({ ok: true });
  });

  it("ends after an hour for those who watch, and opens nothing of a suspended stream", async () => {
    const token = await mint();
    const pass = await passOf(open({ tokens: [token] }));
    await setPolicy({ type: "webhook", webhookId: "hook" });
    expect(await recheck(pass, { origin: "https://evil.test" })).toMatchObject({ ok: true });
    await kit.call("PATCH", `/api/stream/${stream.id}`, { suspended: true });
    gate.forget("all");
    expect([await open({ tokens: [token] }), await recheck(pass)]).toEqual([DENIED, DENIED]);
    await kit.call("PATCH", `/api/stream/${stream.id}`, { suspended: false });
    gate.forget("all");
    kit.clock.advance(HOUR_MS - 1_000);
    expect(await recheck(pass)).toMatchObject({ ok: true, expiresInMs: 1_000 });
    kit.clock.advance(1_000);
    expect([await open({ tokens: [token] }), await recheck(pass)]).toEqual([DENIED, DENIED]);
  });
});

describe("content with a webhook", () => {
  const policy: PlaybackPolicy = {
    type: "webhook",
    webhookId: "hook",
    webhookContext: { room: 7 },
    refreshInterval: 60,
  };
  const openWith = (...accessKeys: string[]) => open({ accessKeys });
  beforeEach(() => setPolicy(policy));

  it("opens when the customer's receiver answers 2xx", async () => {
    expect(await openWith("the key")).toMatchObject({
      ok: true,
      pass: { kind: "webhook", accessKey: "the key" },
      expiresInMs: 4_000,
    });
    expect(receiver.asked).toEqual([expect.objectContaining({ accessKey: "the key", context: { room: 7 } })]);
    await setPolicy({ type: "webhook", webhookId: "hook" });
    await openWith("the key");
    expect(receiver.asked[1]).toMatchObject({ context: {} });
  });

  it.each<[string, (request: IncomingMessage, response: ServerResponse) => void, boolean]>([
    ["204", (_request, response) => response.writeHead(204).end(), true],
    ["302 to itself", (_request, response) => response.writeHead(302, { location: receiver.url }).end(), false],
    ["401", (_request, response) => response.writeHead(401).end(), false],
    ["500", (_request, response) => response.writeHead(500).end(), false],
    ["a reset", (request) => request.socket.resetAndDestroy(), false],
    ["what is no HTTP", (request) => request.socket.end("hello"), false],
    [
      "200 and a body without an end",
      (_request, response) => {
        const pour = () => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        };
        response.writeHead(200, { "content-length": 1e9 }).on("drain", pour);
        pour();
      },
      true,
    ],
    ["200 and a body that says no", (_request, response) => response.writeHead(200).end('{"ret":403}'), true],
  ])("an answer of %s counts by its status", async (_what, answer, isAllowed) => {
    receiver.answer = answer;
    expect((await openWith("key")).ok).toBe(isAllowed);
    expect(receiver.asked).toHaveLength(1);
  });

  it.each([
    ["before five seconds are over counts", 4_999, { ok: true }],
    ["after five seconds comes too late", 5_000, DENIED],
  ])("an answer %s", async (_when, afterMs, expected) => {
    receiver.answer = (_request, response) => {
      kit.clock.advance(afterMs);
      response.writeHead(200).end();
    };
    expect(await openWith("key")).toMatchObject(expected);
  });

  it("a receiver that hangs denies", async () => {
    receiver.answer = () => kit.clock.advance(5_000);
    expect(await openWith("key")).toEqual(DENIED);
  });

  it("denies without a call what is no access key", async () => {
    for (const keys of [[], [""], ["a", "b"], ["x".repeat(8_193)], ["ä".repeat(4_097)]]) {
      expect([keys, await openWith(...keys)]).toEqual([keys, DENIED]);
    }
    expect(await open({ tokens: ["token"] })).toEqual(DENIED);
    expect(receiver.asked).toEqual([]);
    const longest = "ä".repeat(4_096);
    expect(await openWith(longest)).toMatchObject({ ok: true, pass: { kind: "webhook", accessKey: longest } });
    expect(receiver.asked).toEqual([expect.objectContaining({ accessKey: longest })]);
    expect(await openWith("", "a")).toMatchObject({ ok: true });
  });

  it("of a webhook that is not there denies", async () => {
    await setPolicy({ ...policy, webhookId: "other" });
    expect(await openWith("key")).toEqual(DENIED);
  });

  it("10,000 viewers at once with one access key cause one call", async () => {
    const decisions = await Promise.all(Array.from({ length: 10_000 }, () => openWith("key")));
    expect(decisions.every(({ ok }) => ok)).toBe(true);
    expect(receiver.asked).toHaveLength(1);
  });

  it("who watches goes on without a call, until the refresh interval is over and the answer is no", async () => {
    const pass = await passOf(openWith("key"));
    receiver.answer = (_request, response) => response.writeHead(403).end();
    kit.clock.advance(59_000);
    expect(await recheck(pass)).toMatchObject({ ok: true, expiresInMs: 1_000 });
    kit.clock.advance(1_000);
    expect(await recheck(pass)).toEqual(DENIED);
    expect(receiver.asked).toHaveLength(2);
  });
});

describe("what changes while somebody watches", () => {
  it("content that gets another kind of gate ends, content that becomes public goes on", async () => {
    const pass = await passOf(openBy(tokenFor()));
    await setPolicy({ type: "webhook", webhookId: "hook" });
    expect(await recheck(pass)).toEqual(DENIED);
    await setPolicy({ type: "public" });
    expect(await recheck(pass)).toMatchObject({ ok: true, pass });
    await setPolicy({ type: "jwt", allowedOrigins: ["https://page.test"] });
    expect(await recheck(pass, { origin: "https://page.test" })).toMatchObject({ ok: true, perOrigin: true });
    expect(await recheck(pass, { origin: "https://evil.test" })).toEqual(DENIED);
  });

  it("a stream that is suspended or deleted ends; the media floor is told of policy and suspension", async () => {
    const pass = await passOf(openBy(tokenFor()));
    const path = `/api/stream/${stream.id}`;
    kit.asked.accessChanges.length = 0;
    await kit.call("PATCH", path, { suspended: true });
    gate.forget(stream.playbackId);
    expect([await openBy(tokenFor()), await recheck(pass)]).toEqual([DENIED, DENIED]);
    await kit.call("PATCH", path, { suspended: false });
    gate.forget(stream.playbackId);
    expect(await recheck(pass)).toMatchObject({ ok: true });
    await kit.call("PATCH", path, { playbackPolicy: { type: "jwt" } });
    await kit.call("PATCH", path, { name: "other" });
    expect(kit.asked.accessChanges).toEqual([stream.playbackId, stream.playbackId, stream.playbackId]);
    await kit.call("DELETE", path);
    gate.forget("all");
    expect([await openBy(tokenFor()), await recheck(pass)]).toEqual([DENIED, DENIED]);
  });

  it("a suspended account ends everything of it", async () => {
    const pass = await passOf(openBy(tokenFor()));
    const setSuspended = (suspended: boolean) =>
      kit.db.updateTable("account").set({ suspended }).where("id", "=", stream.userId).execute();
    await setSuspended(true);
    kit.clock.advance(1_000);
    expect([await openBy(tokenFor()), await recheck(pass)]).toEqual([DENIED, DENIED]);
    await setSuspended(false);
  });
});

describe("recordings", () => {
  async function record(): Promise<string> {
    const request = { protocol: "rtmp", streamKey: stream.streamKey ?? "", remoteAddress: "127.0.0.1" } as const;
    const decision = await kit.domains.publishGate.authorize(request);
    if (!decision.ok) throw new Error(decision.reason);
    const start = await kit.domains.publishGate.begin(decision.grant, kit.clock.now());
    const playbackId = `rec0${stream.playbackId.slice(4)}`;
    const row = { recording: "ready", recording_playback_id: playbackId } as const;
    await kit.db
      .updateTable("session")
      .set(row)
      .where("id", "=", start?.sessionId ?? "")
      .execute();
    return playbackId;
  }

  it("are found by the session that they are of", async () => {
    const playbackId = await record();
    const session = kit.db.selectFrom("session").select("id").where("recording_playback_id", "=", playbackId);
    const { id } = await session.executeTakeFirstOrThrow();
    expect(await kit.domains.mediaCatalogue.recordingOf(id)).toBe(playbackId);
    for (const other of [stream.id, playbackId, "../x"])
      expect(await kit.domains.mediaCatalogue.recordingOf(other)).toBe(null);
  });

  it("inherit the policy of their stream as it is now, by tokens of their own playback id, beyond its deletion", async () => {
    const recording = await record();
    const token = await tokenFor(recording);
    expect(await open({ tokens: [token] }, recording)).toMatchObject({ ok: true, content: { kind: "recording" } });
    expect(await open({ tokens: [await tokenFor()] }, recording)).toEqual(DENIED);
    await setPolicy({ type: "webhook", webhookId: "hook" });
    expect(await open({ tokens: [token] }, recording)).toEqual(DENIED);
    expect(await open({ accessKeys: ["key"] }, recording)).toMatchObject({ ok: true });
    await setPolicy({ type: "jwt" });
    await kit.call("DELETE", `/api/stream/${stream.id}`);
    gate.forget("all");
    expect(await open({ tokens: [token] }, recording)).toMatchObject({ ok: true });
    expect(await open({}, recording)).toEqual(DENIED);
  });

  it("that are not ready open to nobody", async () => {
    const recording = await record();
    const row = { recording: "waiting" } as const;
    await kit.db.updateTable("session").set(row).where("recording_playback_id", "=", recording).execute();
    expect(await open({ tokens: [await tokenFor(recording)] }, recording)).toEqual(DENIED);
  });
});

describe("limits", () => {
  it("an account that has all its viewers is told so, a credential that has all its viewers is denied", async () => {
    gate = gateWith({ ...limits, isFull: async (projectId) => projectId === stream.projectId });
    expect(await openBy(tokenFor())).toMatchObject({ ok: true, isFull: true });
    const asked: string[] = [];
    const admits = (credential: string) => asked.push(credential) < 2;
    gate = gateWith({ ...limits, admits });
    const token = await tokenFor();
    expect(await open({ tokens: [token], accessKeys: ["not this"] })).toMatchObject({ ok: true });
    expect(await open({ tokens: [token] })).toEqual(DENIED);
    await open({ tokens: ["wrong"] });
    await setPolicy({ type: "public" });
    await open({ tokens: [token] });
    expect(asked).toEqual([`${stream.projectId} ${token}`, `${stream.projectId} ${token}`]);
  });

  it("of an access key count in its own project, whatever other projects call theirs", async () => {
    const asked: string[] = [];
    gate = gateWith({ ...limits, admits: (credential) => asked.push(credential) > 0 });
    const { apiKey } = await addProject(kit.db, `other-${stream.id}`);
    const bearer = { authorization: `Bearer ${apiKey}` };
    const others = (await kit.call("POST", "/api/stream", { name: "stage" }, bearer)).json<Stream>();
    for (const { id, playbackId } of [stream, others]) {
      await setPolicy({ type: "webhook", webhookId: "hook" }, id);
      expect(await open({ accessKeys: ["guest"] }, playbackId)).toMatchObject({ ok: true });
    }
    expect(asked.length).toBe(2);
    expect(new Set(asked).size).toBe(2);
  });
});

describe("while the database is away", () => {
  /** A gate over a database that goes away when told. */
  function gateOverFailing() {
    const state = { isAway: false };
    const db = kit.db.withPlugin({
      transformQuery: ({ node }) => {
        if (state.isAway) throw new DatabaseAway(new Error("gone"));
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    gate = gateWith(limits, db);
    return state;
  }

  it("public content opens to everybody, a token to those who have it, for five minutes", async () => {
    const state = gateOverFailing();
    const { playbackId } = await streamWith(null);
    const token = await tokenFor(stream.playbackId, 3_600);
    const pass = await passOf(open({ tokens: [token] }));
    expect(await open({}, playbackId)).toMatchObject({ ok: true });
    state.isAway = true;
    kit.clock.advance(299_000);
    expect(await open({}, playbackId)).toMatchObject({ ok: true, pass: null });
    expect(await recheck(pass)).toMatchObject({ ok: true });
    expect(await open({ tokens: [token] })).toMatchObject({ ok: true });
    expect(await open({ tokens: ["nonsense"] })).toEqual(DENIED);
    await expect(open({}, "zzzz000000000000")).rejects.toBeInstanceOf(DatabaseAway);
    kit.clock.advance(1_000);
    await expect(recheck(pass)).rejects.toBeInstanceOf(DatabaseAway);
  });

  it("a pass ends with its token all the same", async () => {
    const state = gateOverFailing();
    const pass = await passOf(openBy(tokenFor(stream.playbackId, 60)));
    state.isAway = true;
    kit.clock.advance(60_000);
    expect(await recheck(pass)).toEqual(DENIED);
  });

  it("what was changed is not decided by what was known before", async () => {
    const state = gateOverFailing();
    const pass = await passOf(openBy(tokenFor()));
    state.isAway = true;
    kit.clock.advance(2_000);
    expect(await recheck(pass)).toMatchObject({ ok: true });
    // The policy is that of the recordings as well.
    gate.forget("another00another");
    kit.clock.advance(1_000);
    await expect(recheck(pass)).rejects.toBeInstanceOf(DatabaseAway);
    await expect(openBy(tokenFor())).rejects.toBeInstanceOf(DatabaseAway);
  });

  it("the customer's webhook is asked, by its last known policy", async () => {
    const state = gateOverFailing();
    await setPolicy({ type: "webhook", webhookId: "hook", refreshInterval: 60 });
    const pass = await passOf(open({ accessKeys: ["key"] }));
    state.isAway = true;
    kit.clock.advance(60_000);
    receiver.answer = (_request, response) => response.writeHead(403).end();
    expect(await recheck(pass)).toEqual(DENIED);
    expect(await open({ accessKeys: ["key"] })).toEqual(DENIED);
    expect(receiver.asked).toHaveLength(3);
  });
});
