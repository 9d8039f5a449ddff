import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { ManualClock } from "../../platform/clock.ts";
import { silentLog } from "../../platform/log.ts";
import type { OutboundAnswer, OutboundPost } from "../../platform/outbound/outbound.ts";
import type { ViewerDetails } from "../../ports.ts";
import { type AccessCallFailure, type AccessQuestion, AccessWebhooks } from "./access-webhook.ts";

const REFRESH_MS = 600_000;
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
const RESET: OutboundAnswer = { ok: false, reason: "network", message: "the connection was reset", durationMs: 1 };

/** Webhooks over a receiver that answers what it is told to, or when it is told to. */
function rig(sharedSecret: string | null = null) {
  const clock = new ManualClock();
  const posts: OutboundPost[] = [];
  const pending: ((answer: OutboundAnswer) => void)[] = [];
  const notes: (AccessCallFailure | null)[] = [];
  const state = { next: answered(204) as OutboundAnswer | null, isThere: true, lookUps: 0 };
  const webhooks = new AccessWebhooks({
    clock,
    log: silentLog,
    noteAccessCall: async (_id, _at, failure) => void notes.push(failure),
    findAccessWebhook: async () => {
      state.lookUps += 1;
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

// hostile-input 69
it.each([
  [answered(200), "allowed"],
  [answered(204), "allowed"],
  [answered(299), "allowed"],
  [answered(302), "refused"],
  [answered(304), "refused"],
  [answered(401), "refused"],
  [answered(404), "refused"],
  [answered(408), "unanswered"],
  [answered(429), "unanswered"],
  [answered(500), "unanswered"],
  [TIMEOUT, "unanswered"],
  [RESET, "unanswered"],
])("%j is %s to somebody new, and only what is refused ends a viewer", async (answer, verdict) => {
  const { state, ask, recheck } = rig();
  state.next = answer;
  expect(await ask()).toMatchObject({ verdict });
  expect((await recheck()) > 0).toBe(verdict !== "refused");
});

it("a webhook that is gone lets nobody in, and nobody go on", async () => {
  const { state, posts, ask, recheck } = rig();
  state.isThere = false;
  expect(await ask()).toMatchObject({ verdict: "refused", why: expect.stringContaining("gone") });
  expect(await recheck()).toBe(0);
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

// hostile-input 70
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
  expect(new Set(verdicts)).toEqual(new Set(["unanswered"]));
});

it("who watches is asked about again only when the refresh interval is over", async () => {
  const { clock, webhooks, ask, recheck, state } = rig();
  await ask();
  clock.advance(REFRESH_MS - 1);
  expect(await recheck()).toBe(1);
  expect(webhooks.calls).toBe(1);
  clock.advance(1);
  state.next = answered(403);
  expect(await Promise.all([recheck(), recheck(), recheck()])).toEqual([0, 0, 0]);
  expect(webhooks.calls).toBe(2);
  expect(await recheck()).toBe(0);
  expect(webhooks.calls).toBe(2);
});

it("a receiver that does not answer at a refresh stops nobody, and is asked again soon", async () => {
  const { clock, webhooks, ask, recheck, state } = rig();
  await ask();
  clock.advance(REFRESH_MS);
  state.next = TIMEOUT;
  expect(await recheck()).toBe(10_000);
  clock.advance(1);
  expect(await recheck()).toBe(9_999);
  expect(webhooks.calls).toBe(2);
  clock.advance(10_000);
  state.next = answered(403);
  expect(await recheck()).toBe(0);
  expect(webhooks.calls).toBe(3);
});

it("a newcomer who is refused, as one device too many may be, ends nobody who watches with the same key", async () => {
  const { ask, recheck, state } = rig();
  await ask();
  state.next = answered(403);
  expect(await ask()).toMatchObject({ verdict: "refused" });
  expect(await recheck()).toBe(REFRESH_MS);
});

it("after a restart, who watched is asked about", async () => {
  const { webhooks, recheck } = rig();
  expect(await recheck()).toBe(REFRESH_MS);
  expect(await recheck()).toBe(REFRESH_MS);
  expect(webhooks.calls).toBe(1);
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
