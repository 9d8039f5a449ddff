import { expect, it } from "vitest";
import { streamSubject } from "../subject.ts";
import { eventId, parseEventId } from "./event-id.ts";

const STREAM = streamSubject("2f1c0a52-9d0e-4f3a-8a3e-0c3f3f2d1b11");
const OTHER = streamSubject("7b1c0a52-9d0e-4f3a-8a3e-0c3f3f2d1b12");

it.each([
  { at: 1_700_000_000_000, seq: 1 },
  { at: 0, seq: 0 },
  { at: 2 ** 48 - 1, seq: 2 ** 40 - 1 },
])("an id is a UUIDv7 that gives back its time and place: %o", (position) => {
  const id = eventId(STREAM, position);
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(parseEventId(STREAM, id)).toEqual(position);
});

it("two subjects never share an id, and one's id is not the other's", () => {
  const position = { at: 1_700_000_000_000, seq: 1 };
  expect(eventId(STREAM, position)).not.toBe(eventId(OTHER, position));
  expect(parseEventId(OTHER, eventId(STREAM, position))).toBeNull();
});

it("ids of one subject sort by time, then by place", () => {
  const ids = [
    eventId(STREAM, { at: 1_000, seq: 9 }),
    eventId(STREAM, { at: 1_001, seq: 10 }),
    eventId(STREAM, { at: 1_001, seq: 11 }),
  ];
  expect([...ids].sort()).toEqual(ids);
});

it.each(["", "abc", STREAM.id, "' or 1=1"])("%j is no event id", (text) =>
  expect(parseEventId(STREAM, text)).toBeNull(),
);
