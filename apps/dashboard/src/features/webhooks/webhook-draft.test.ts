import type { Webhook } from "@weir/contract";
import { expect, test } from "vitest";
import {
  draftOf,
  EMPTY_DRAFT,
  EVENT_GROUPS,
  inventSecret,
  isComplete,
  newWebhookOf,
  patchOf,
  withEvents,
} from "./webhook-draft.ts";

const webhook: Webhook = {
  id: "w",
  kind: "webhook",
  name: "Shop",
  userId: "u",
  projectId: "p",
  createdAt: 1,
  events: ["stream.idle", "stream.started"],
  url: "https://shop.example/weir",
  streamId: "s",
  isSigned: true,
  status: { waiting: 0, failuresInARow: 0 },
};

test("nothing is sent for what nobody has touched", () => {
  expect(patchOf(webhook, draftOf(webhook))).toEqual({});
  expect(patchOf(webhook, { ...draftOf(webhook), events: ["stream.started", "stream.idle"] })).toEqual({});
});

test("a patch has what was changed; a stream that was taken away is an empty text", () => {
  const draft = { ...draftOf(webhook), name: " Till ", sharedSecret: "x", streamId: "" };
  expect(patchOf(webhook, draft)).toEqual({ name: "Till", sharedSecret: "x", streamId: "" });
});

test("a new webhook without secret and stream has neither", () => {
  const draft = { ...EMPTY_DRAFT, name: "A", url: " http://a.example ", events: ["stream.idle" as const] };
  expect(newWebhookOf(draft)).toEqual({ name: "A", url: "http://a.example", events: ["stream.idle"] });
});

test.each([
  [{ name: " " }, false],
  [{ url: "ftp://a.example" }, false],
  [{ url: "https://" }, false],
  [{ events: [] }, false],
  [{}, true],
])("a draft with %j may be sent: %j", (change, may) => {
  expect(isComplete({ ...draftOf(webhook), ...change })).toBe(may);
});

test("only events that this server sends are offered", () => {
  expect(EVENT_GROUPS.map(([group, events]) => `${group} ${events.length}`)).toEqual([
    "stream 2",
    "recording 4",
    "multistream 3",
    "playback 2",
    "asset 5",
    "task 4",
  ]);
});

test("events are added and taken away, and keep their order", () => {
  expect(withEvents(["task.failed"], ["stream.idle", "stream.started"], true)).toEqual([
    "stream.started",
    "stream.idle",
    "task.failed",
  ]);
  expect(withEvents(["stream.started", "stream.idle"], ["stream.idle"], false)).toEqual(["stream.started"]);
});

test("two secrets are never the same", () => {
  expect(inventSecret()).toMatch(/^[0-9a-f]{64}$/);
  expect(inventSecret()).not.toBe(inventSecret());
});
