import { expect, test } from "vitest";
import { MAX_ATTEMPTS, nextTargetStatus, retryMs, type TargetInput, type TargetStatus } from "./target-status.ts";

const idle: TargetStatus = { state: "idle" };
const online: TargetStatus = { state: "online" };
const offline: TargetStatus = { state: "offline", reason: "wrong key" };
const pending = (attempt: number, reason: string | null = null): TargetStatus => ({
  state: "pending",
  attempt,
  reason,
});
const [wanted, accepted, unwanted]: TargetInput[] = [{ type: "wanted" }, { type: "accepted" }, { type: "unwanted" }];
const lost: TargetInput = { type: "lost", reason: "reset", isTemporary: true };
const refused: TargetInput = { type: "lost", reason: "refused", isTemporary: false };

test.each<[TargetStatus, TargetInput | undefined, TargetStatus, string | null]>([
  [idle, wanted, pending(1), null],
  [pending(3), accepted, online, "connected"],
  [pending(1), lost, pending(2, "reset"), null],
  [pending(MAX_ATTEMPTS, "before"), lost, { state: "offline", reason: "reset" }, "error"],
  [pending(1), refused, { state: "offline", reason: "refused" }, "error"],
  [online, lost, pending(1, "reset"), "error"],
  [online, refused, { state: "offline", reason: "refused" }, "error"],
  [online, unwanted, idle, "disconnected"],
  [pending(2, "reset"), unwanted, idle, "disconnected"],
  [offline, unwanted, idle, null],
  [idle, unwanted, idle, null],
])("%j with %j becomes %j, event %s", (status, input = lost, next, event) => {
  expect(nextTargetStatus(status, input)).toEqual({ status: next, event });
});

test.each([
  [idle, accepted],
  [idle, lost],
  [pending(1), wanted],
  [online, wanted],
  [online, accepted],
  [offline, wanted],
  [offline, accepted],
  [offline, lost],
])("%j with %j is impossible, and the error names both", (status, input = lost) => {
  expect(() => nextTargetStatus(status, input)).toThrow(`cannot take "${input.type}" while ${status.state}`);
});

test("the retry delay doubles after each failure, up to 30 s", () => {
  expect([1, 2, 3, 4, 5, 6, 9].map(retryMs)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
});
