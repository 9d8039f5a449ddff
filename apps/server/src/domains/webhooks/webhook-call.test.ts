import { expect, it } from "vitest";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import type { OutboundAnswer, OutboundPost } from "../../platform/outbound/outbound.ts";
import { callWebhook, type WebhookCall } from "./webhook-call.ts";

const call: WebhookCall = {
  webhook: { id: "1", projectId: "2", url: "https://example.com/hook", sharedSecret: null },
  event: "stream.started",
  body: "{}",
  sentAt: 7,
  attempt: 1,
  timeoutMs: 30_000,
};

async function callAnswered(answer: Partial<OutboundAnswer>, change: Partial<WebhookCall> = {}) {
  const posts: OutboundPost[] = [];
  const outbound = {
    post: async (post: OutboundPost) => {
      posts.push(post);
      const common = { statusText: "", body: Buffer.alloc(0), durationMs: 1, message: "why" };
      return { ...common, ...answer } as OutboundAnswer;
    },
  };
  return { ...(await callWebhook({ clock: new ManualClock(), outbound }, { ...call, ...change })), posts };
}

it.each([
  [{ ok: true, status: 204 }, "delivered", null],
  [{ ok: true, status: 302 }, "hopeless", { timestamp: 7, statusCode: 302, error: "answered 302", response: "" }],
  [{ ok: true, status: 503 }, "failed", { timestamp: 7, statusCode: 503, error: "answered 503", response: "" }],
  [{ ok: false, reason: "timeout" }, "failed", { timestamp: 7, error: "why" }],
  [{ ok: false, reason: "network" }, "failed", { timestamp: 7, error: "why" }],
  [{ ok: false, reason: "refused" }, "hopeless", { timestamp: 7, error: "why" }],
] as const)("an answer %o is %s", async (answer, outcome, failure) => {
  const called = await callAnswered(answer);
  expect(called).toMatchObject({ outcome, log: { success: outcome === "delivered", created_at: 7, attempt: 1 } });
  expect(called.failure).toEqual(failure);
});

it("is signed where there is a secret, and nowhere else; the secret is not in the log", async () => {
  const [plain] = (await callAnswered({ ok: true, status: 200 })).posts;
  expect(Object.keys(plain?.headers ?? {})).toEqual(["content-type", "user-agent"]);
  const webhook = { ...call.webhook, sharedSecret: "shared" };
  const { posts, log } = await callAnswered({ ok: true, status: 200 }, { webhook });
  expect(posts[0]?.headers["service-signature"]).toMatch(/^t=7,v1=[0-9a-f]{64}$/);
  expect(JSON.stringify(log)).not.toContain("shared");
});
