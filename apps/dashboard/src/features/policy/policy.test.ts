import type { PlaybackPolicy } from "@weir/contract";
import { expect, test } from "vitest";
import { draftOf, type PolicyDraft, policyOf, problemsOf } from "./policy.ts";

const draft = (change: Partial<PolicyDraft> = {}): PolicyDraft => ({ ...draftOf(null), ...change });

test.each<PlaybackPolicy>([
  { type: "public" },
  { type: "public", allowedOrigins: ["https://a.example", "*"] },
  { type: "jwt" },
  {
    type: "webhook",
    webhookId: "w",
    webhookContext: { show: 7 },
    refreshInterval: 30,
    allowedOrigins: ["https://a.example"],
  },
  { type: "webhook", webhookId: "w", refreshInterval: 0 },
])("%j is the same after it was opened and saved", (policy) => {
  expect(problemsOf(draftOf(policy))).toEqual({});
  expect(policyOf(draftOf(policy))).toEqual(policy);
});

test("a stream without a policy is public", () => {
  expect(policyOf(draftOf(undefined))).toEqual({ type: "public" });
});

test("what belongs to a webhook is neither asked for nor sent with another type", () => {
  const left = draft({ type: "jwt", webhookId: "w", context: "{", refresh: "soon" });
  expect(problemsOf(left)).toEqual({});
  expect(policyOf(left)).toEqual({ type: "jwt" });
});

test.each([
  [{ webhookId: "" }, { webhook: true }],
  [{ context: "[1]" }, { context: true }],
  [{ context: "{" }, { context: true }],
  [{ context: "null" }, { context: true }],
  [{ refresh: "-1" }, { refresh: true }],
  [{ refresh: "1 min" }, { refresh: true }],
  [{ origins: "https://a.example/path" }, { origin: "https://a.example/path" }],
])("a webhook policy with %j has the problem %j", (change, problems) => {
  expect(problemsOf(draft({ type: "webhook", webhookId: "w", ...change }))).toEqual(problems);
});
