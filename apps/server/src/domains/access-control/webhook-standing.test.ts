import { expect, it } from "vitest";
import { afterVerdict, GRACE_MS, type Standing, type WebhookVerdict } from "./webhook-standing.ts";

const now = 1_000_000;
const refreshMs = 60_000;
const yes: Standing = { verdict: "allowed", askAt: now, graceEndsAt: now + GRACE_MS };
const overdue: Standing = { verdict: "allowed", askAt: now - GRACE_MS, graceEndsAt: now };
const no: Standing = { verdict: "refused", askAt: now };
const unknown: Standing = { verdict: "unconfirmed", askAt: now };

it.each<[before: Standing | undefined, WebhookVerdict, after: Standing["verdict"], askInMs: number]>([
  [undefined, "allowed", "allowed", refreshMs],
  [undefined, "refused", "refused", refreshMs],
  [undefined, "silent", "unconfirmed", 10_000],
  [yes, "allowed", "allowed", refreshMs],
  [yes, "refused", "refused", refreshMs],
  [yes, "silent", "allowed", 10_000],
  [overdue, "silent", "unconfirmed", 10_000],
  [no, "allowed", "allowed", refreshMs],
  [no, "refused", "refused", refreshMs],
  [no, "silent", "refused", 10_000],
  [unknown, "allowed", "allowed", refreshMs],
  [unknown, "refused", "refused", refreshMs],
  [unknown, "silent", "unconfirmed", 10_000],
])("after %j, %s makes it %s for %i ms", (before, verdict, after, askInMs) => {
  expect(afterVerdict(before, verdict, { now, refreshMs })).toMatchObject({ verdict: after, askAt: now + askInMs });
});

it("silence never makes the grace longer, and no interval shorter than the webhook's is waited", () => {
  const nearlyOver = { ...yes, graceEndsAt: now + 3_000 };
  expect(afterVerdict(nearlyOver, "silent", { now, refreshMs })).toEqual({ ...nearlyOver, askAt: now + 3_000 });
  expect(afterVerdict(yes, "silent", { now, refreshMs: 2_000 })).toEqual({ ...yes, askAt: now + 2_000 });
});
