import type { WebhookLog } from "@weir/contract";
import { expect, test } from "vitest";
import { groupDeliveries, isTest, nextAttemptAt } from "./delivery-groups.ts";

const delivery = (id: string, body: unknown) =>
  ({ id, request: { body: typeof body === "string" ? body : JSON.stringify(body) } }) as WebhookLog;

test("the attempts of one event are one group, where its latest attempt is", () => {
  const deliveries = [
    delivery("5", { id: "b" }),
    delivery("4", { id: "a" }),
    delivery("3", { id: "b" }),
    delivery("2", "no JSON"),
    delivery("1", { id: "a" }),
  ];
  const ids = groupDeliveries(deliveries).map(({ latest, earlier }) => [latest.id, ...earlier.map(({ id }) => id)]);
  expect(ids).toEqual([["5", "3"], ["4", "1"], ["2"]]);
});

test("the next attempt is the one that is planned, until there is none", () => {
  const failed = (retryAt?: number) => ({ success: false, retryAt }) as WebhookLog;
  const delivered = { success: true } as WebhookLog;
  expect(nextAttemptAt({ latest: failed(200), earlier: [failed(100)] }, 150)).toBe(200);
  expect(nextAttemptAt({ latest: failed(), earlier: [failed(200)] }, 150)).toBe(200);
  expect(nextAttemptAt({ latest: failed(200), earlier: [] }, 250)).toBe(null);
  expect(nextAttemptAt({ latest: delivered, earlier: [failed(200)] }, 150)).toBe(null);
  expect(nextAttemptAt({ latest: failed(), earlier: [] }, 150)).toBe(null);
});

test("a test says so in its payload", () => {
  expect(isTest(delivery("1", { id: "a", payload: { test: true } }))).toBe(true);
  expect([isTest(delivery("1", { id: "a" })), isTest(delivery("1", "null"))]).toEqual([false, false]);
});
