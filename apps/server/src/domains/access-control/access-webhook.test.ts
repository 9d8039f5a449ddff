import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { DatabaseAway } from "../../platform/database-away.ts";
import { silentLog } from "../../platform/log.ts";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import type { OutboundAnswer, OutboundPost } from "../../platform/outbound/outbound.ts";
import type { ViewerDetails } from "../../ports/index.ts";
import { type AccessCallFailure, type AccessQuestion, AccessWebhooks, type Recheck } from "./access-webhook.ts";
import { GRACE_MS } from "./webhook-standing.ts";

const REFRESH_MS = 600_000;
const AGAIN_MS = 10_000;
const allowed = (forMs: number): Recheck => ({ verdict: "allowed", forMs });
const REFUSED: Recheck = { verdict: "refused" };
const UNCONFIRMED: Recheck = { verdict: "unconfirmed" };
const viewer: ViewerDetails = {
  protocol: "hls",
  address: "203.0.113.9",
  url: "https://weir.test/hls/abcd1234abcd1234/index.m3u8",
  host: "weir.test",
  userAgent: "player/1",
  referer: "https://page.test/",
  origin: "https://page.test",
};
const question: AccessQuestion = {
  projectId: "project",
  playbackId: "abcd1234abcd1234",
  webhookId: "hook",
  context: { plan: "gold", nested: { a: [1, null] } },
  accessKey: "Schlüssel/ä=&?",
};

const answered = (status: number): OutboundAnswer => ({
  ok: true,
  status,
  statusText: "",
  body: Buffer.alloc(0),
  durationMs: 1,
});
const TIMEOUT: OutboundAnswer = { ok: false, reason: "timeout", message: "no answer within 5 s", durationMs: 5_000 };
const NOT_CALLED: OutboundAnswer = { ok: false, reason: "refused", message: "a private address", durationMs: 0 };
const RESET: OutboundAnswer = { ok: false, reason: "network", message: "the connection was reset", durationMs: 1 };

/** Webhooks over a receiver that answers what it is told to, or when it is told to. */
function rig(sharedSecret: string | null = null) {
  const clock = new ManualClock();
  const posts: OutboundPost[] = [];
  const pending: ((answer: OutboundAnswer) => void)[] = [];
  const notes: (AccessCallFailure | null)[] = [];
  const state = { next: answered(204) as OutboundAnswer | null, isThere: true, isAway: false, lookUps: 0 };
  const webhooks = new AccessWebhooks({
    clock,
    log: silentLog,
    noteAccessCall: async (_id, _at, failure) => void notes.push(failure),
    findAccessWebhook: async () => {
      state.lookUps += 1;
      if (state.isAway) throw new DatabaseAway(new Error("gone"));
      return state.isThere ? { id: "hook", url: "https://hook.test/in", sharedSecret } : undefined;
    },
    outbound: {
      post: (post) => {
        posts.push(post);
        return state.next ? Promise.resolve(state.next) : new Promise((resolve) => pending.push(resolve));
      },
    },
  });
  const ask = (change: Partial<AccessQuestion> = {}) => webhooks.ask({ ...question, ...change }, viewer, REFRESH_MS);
  const recheck = (change: Partial<AccessQuestion> = {}) =>
    webhooks.recheck({ ...question, ...change }, viewer, REFRESH_MS);
  return { clock, posts, pending, notes, state, webhooks, ask, recheck };
}

it("the call says who asks for what: the documented fields first, in order, the rest after", async () => {
  const { posts, ask, clock } = rig();
  await ask();
  expect(posts[0]).toMatchObject({ url: "https://hook.test/in", timeoutMs: 5_000, maxResponseBytes: 0 });
  expect(posts[0]?.headers).toEqual({ "content-type": "application/json", "user-agent": "weir" });
  expect(posts[0]?.body).toBe(
    JSON.stringify({
      accessKey: "Schlüssel/ä=&?",
      context: { plan: "gold", nested: { a: [1, null] } },
      timestamp: clock.now(),
      userIP: "203.0.113.9",
      playDomain: "weir.test",
      playURL: "https://weir.test/hls/abcd1234abcd1234/index.m3u8",
      headers: {
        "User-Agent": "player/1",
        Referer: "https://page.test/",
        "X-Forwarded-Proto": "https",
        Host: "weir.test",
        Origin: "https://page.test",
      },
    }),
  );
});

it("a call with a shared secret is signed under both names", async () => {
  const { posts, ask, clock } = rig("shared");
  await ask();
  const { body = "", headers } = posts[0] ?? {};
  const signature = `t=${clock.now()},v1=${createHmac("sha256", "shared").update(body).digest("hex")}`;
  expect(headers).toMatchObject({ "service-signature": signature, "livepeer-signature": signature });
});

it.each([
  [answered(200), "allowed"],
  [answered(204), "allowed"],
  [answered(299), "allowed"],
  [answered(302), "refused"],
  [answered(304), "refused"],
  [answered(401), "refused"],
  [answered(404), "refused"],
  [answered(408), "refused"],
  [answered(425), "refused"],
  [answered(429), "refused"],
  [answered(500), "refused"],
  [answered(503), "refused"],
  [answered(101), "refused"],
  [NOT_CALLED, "refused"],
  [TIMEOUT, "silent"],
  [RESET, "silent"],
])("%j is %s to somebody new, and to somebody who watches", async (answer, verdict) => {
  const { state, clock, ask, recheck } = rig();
  await ask();
  clock.advance(REFRESH_MS);
  state.next = answer;
  expect(await ask()).toMatchObject({ verdict });
  const isIn = verdict !== "refused";
  expect((await recheck()).verdict).toBe(isIn ? "allowed" : "refused");
});

it("a webhook that is gone lets nobody in, and nobody go on", async () => {
  const { state, posts, ask, recheck } = rig();
  state.isThere = false;
  expect(await ask()).toMatchObject({ verdict: "refused", why: expect.stringContaining("gone") });
  expect(await recheck()).toEqual(REFUSED);
  expect(posts).toEqual([]);
});

it("the webhook's status says how calls went, and is written once in ten seconds", async () => {
  const { clock, notes, ask, state } = rig();
  for (const _time of [1, 2]) await ask();
  state.next = answered(403);
  await ask();
  expect(notes).toEqual([null]);
  state.next = answered(500);
  for (const _time of [1, 2]) await ask();
  const error = expect.stringContaining("answered 500");
  expect(notes).toEqual([null, { timestamp: clock.now(), statusCode: 500, error }]);
  clock.advance(10_000);
  state.next = TIMEOUT;
  await ask();
  expect(notes[2]).toEqual({ timestamp: clock.now(), error: expect.stringContaining("no answer within 5 s") });
});

it("10,000 viewers at once with one access key cause one call, the next viewer another", async () => {
  const { webhooks, ask, state } = rig();
  const answers = await Promise.all(Array.from({ length: 10_000 }, () => ask()));
  expect(answers.every(({ verdict }) => verdict === "allowed")).toBe(true);
  expect(webhooks.calls).toBe(1);
  await ask();
  expect(webhooks.calls).toBe(2);
  expect(state.lookUps).toBe(1);
});

it("another key, playback id or context is another call", async () => {
  const { webhooks, ask } = rig();
  await Promise.all([ask(), ask({ accessKey: "other" }), ask({ playbackId: "zzzz" }), ask({ context: {} })]);
  expect(webhooks.calls).toBe(4);
});

it("with a slow receiver so many wait; the rest is refused at once, and who waited too long without a call", async () => {
  const { clock, posts, pending, state, ask } = rig();
  state.next = null;
  const verdicts: string[] = [];
  const asked = Array.from({ length: 10_000 }, async (_, n) => {
    verdicts.push((await ask({ accessKey: `key ${n}` })).verdict);
  });
  await expect.poll(() => verdicts.length).toBe(10_000 - 5_100);
  expect(posts).toHaveLength(100);
  clock.advance(5_000);
  for (const settle of pending.splice(0)) settle(TIMEOUT);
  await Promise.all(asked);
  expect(posts).toHaveLength(100);
  expect(new Set(verdicts.slice(0, 4_900))).toEqual(new Set(["not-asked"]));
  expect(new Set(verdicts.slice(4_900))).toEqual(new Set(["silent"]));
});

it("who watches is asked about again only when the refresh interval is over", async () => {
  const { clock, webhooks, ask, recheck, state } = rig();
  await ask();
  clock.advance(REFRESH_MS - 1);
  expect(await recheck()).toEqual(allowed(1));
  expect(webhooks.calls).toBe(1);
  clock.advance(1);
  state.next = answered(403);
  expect(await Promise.all([recheck(), recheck(), recheck()])).toEqual([REFUSED, REFUSED, REFUSED]);
  expect(webhooks.calls).toBe(2);
  expect(await recheck()).toEqual(REFUSED);
  expect(webhooks.calls).toBe(2);
});

it("a silent receiver ends nobody within the grace, is asked again every ten seconds, and ends everybody after it", async () => {
  const { clock, webhooks, ask, recheck, state } = rig();
  await ask();
  clock.advance(REFRESH_MS);
  state.next = TIMEOUT;
  for (let askedMs = 0; askedMs < GRACE_MS; askedMs += AGAIN_MS) {
    expect(await recheck()).toEqual(allowed(AGAIN_MS));
    clock.advance(AGAIN_MS);
  }
  expect(webhooks.calls).toBe(1 + GRACE_MS / AGAIN_MS);
  expect(await recheck()).toEqual(UNCONFIRMED);
  expect(await recheck()).toEqual(UNCONFIRMED);
  expect(webhooks.calls).toBe(2 + GRACE_MS / AGAIN_MS);
  clock.advance(AGAIN_MS);
  state.next = answered(200);
  expect(await recheck()).toEqual(allowed(REFRESH_MS));
});

it("a viewer who was refused stays refused while the receiver is silent, and until it approves them", async () => {
  const { clock, ask, recheck, state } = rig();
  await ask();
  clock.advance(REFRESH_MS);
  state.next = answered(403);
  expect(await recheck()).toEqual(REFUSED);
  state.next = RESET;
  for (let times = 0; times < 100; times++) {
    clock.advance(REFRESH_MS);
    expect(await recheck()).toEqual(REFUSED);
    expect(await ask()).toMatchObject({ verdict: "silent" });
  }
  clock.advance(AGAIN_MS);
  state.next = answered(200);
  expect(await recheck()).toEqual(allowed(REFRESH_MS));
});

it("a newcomer who is refused, as one device too many may be, ends nobody who watches with the same key", async () => {
  const { ask, recheck, state } = rig();
  await ask();
  state.next = answered(403);
  expect(await ask()).toMatchObject({ verdict: "refused" });
  expect(await recheck()).toEqual(allowed(REFRESH_MS));
});

it("after a restart, an address from before it needs the receiver's word: silence is none", async () => {
  const { clock, webhooks, recheck, state } = rig();
  state.next = TIMEOUT;
  expect(await recheck()).toEqual(UNCONFIRMED);
  expect(await recheck()).toEqual(UNCONFIRMED);
  expect(webhooks.calls).toBe(1);
  clock.advance(AGAIN_MS);
  state.next = answered(200);
  expect(await recheck()).toEqual(allowed(REFRESH_MS));
  expect(await recheck()).toEqual(allowed(REFRESH_MS));
  expect(webhooks.calls).toBe(2);
});

it("a flood of invented keys does not keep the receiver from refusing somebody who watches", async () => {
  const { clock, posts, pending, state, ask, recheck } = rig();
  await ask({ accessKey: "alice" });
  clock.advance(REFRESH_MS);
  state.next = null;
  for (let n = 0; n < 5_300; n++) void ask({ accessKey: `invented ${n}` });
  const refreshed = recheck({ accessKey: "alice" });
  await expect.poll(() => posts.at(-1)?.body).toContain("alice");
  pending.at(-1)?.(answered(403));
  expect(await refreshed).toEqual(REFUSED);
});

it("more re-checks than may wait confirm nobody, and change nothing that is known", async () => {
  const { clock, pending, state, ask, recheck } = rig();
  await ask({ accessKey: "alice" });
  clock.advance(REFRESH_MS);
  state.next = null;
  const others = Array.from({ length: 5_100 }, (_, n) => recheck({ accessKey: `viewer ${n}` }));
  expect(await recheck({ accessKey: "alice" })).toEqual(UNCONFIRMED);
  state.next = TIMEOUT;
  for (const settle of pending.splice(0)) settle(TIMEOUT);
  await Promise.all(others);
  expect(await recheck({ accessKey: "alice" })).toEqual(allowed(AGAIN_MS));
});

it("while the database is away, the webhook that it named last is asked, unless it may have been changed", async () => {
  const { clock, state, webhooks, ask } = rig();
  await ask();
  state.isAway = true;
  clock.advance(2_000);
  expect(await ask()).toMatchObject({ verdict: "allowed" });
  expect(webhooks.calls).toBe(2);
  webhooks.forget();
  await expect(ask()).rejects.toBeInstanceOf(DatabaseAway);
});

it("a webhook that was changed is looked up anew within two seconds, and at once when told", async () => {
  const { clock, state, webhooks, ask } = rig();
  await ask();
  state.isThere = false;
  expect(await ask()).toMatchObject({ verdict: "allowed" });
  clock.advance(2_000);
  expect(await ask()).toMatchObject({ verdict: "refused" });
  state.isThere = true;
  webhooks.forget();
  expect(await ask()).toMatchObject({ verdict: "allowed" });
});
