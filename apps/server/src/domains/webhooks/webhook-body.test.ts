import type { Session, Stream } from "@weir/contract";
import { expect, it } from "vitest";
import { type BodyParts, webhookBody, withTimestamp } from "./webhook-body.ts";

const parts: BodyParts = {
  id: "event",
  webhookId: "hook",
  createdAt: 1,
  timestamp: 2,
  event: "stream.started",
  isLate: false,
  snapshot: {},
  session: null,
  payload: null,
};
const session = { id: "session", recordingUrl: "u", mp4Url: "m" } as Session;
const bodyOf = (change: Partial<BodyParts>) => JSON.parse(webhookBody({ ...parts, ...change }));

it("has the fields in the order that is documented, and none that is unset", () => {
  const text = '{"id":"event","webhookId":"hook","createdAt":1,"timestamp":2,"event":"stream.started"}';
  expect(webhookBody(parts)).toBe(text);
  expect(withTimestamp(text, 3)).toBe(text.replace('"timestamp":2', '"timestamp":3'));
});

it("shows of a stream neither what publishes to it nor where it is pulled from", () => {
  const stream = { id: "s", name: "n", streamKey: "key", pull: { source: "srt://secret" } } as unknown as Stream;
  expect(bodyOf({ snapshot: { stream } }).stream).toEqual({ id: "s", name: "n" });
});

it.each([
  ["recording.waiting", { session }],
  ["recording.ready", { recordingUrl: "u", mp4Url: "m", session: { ...session, assetId: "session" } }],
] as const)("of %s has %o", (event, payload) => expect(bodyOf({ event, session }).payload).toEqual(payload));

it("says what the event says, and that it is late", () => {
  expect(bodyOf({ payload: { target: 1 }, isLate: true })).toMatchObject({ payload: { target: 1 }, late: true });
});
