import { expect, test } from "vitest";
import { embedOptionsIn, originIn } from "./embed-options.ts";

test("the address of an embedded player says how it begins and looks", () => {
  expect(
    embedOptionsIn("?autoplay=0&muted=false&loop=1&start=90.5&latency=low&colour=ff8800&origin=https://example.com"),
  ).toEqual({
    attributes: { autoplay: "false", muted: "false", loop: "true", start: "90.5", "low-latency": "true" },
    colour: "#ff8800",
    origin: "https://example.com",
  });
  expect(embedOptionsIn("?color=%23abc").colour).toBe("#abc");
});

test("what is missing or invalid changes nothing", () => {
  const nothing = { attributes: {}, colour: null, origin: null };
  expect(embedOptionsIn("")).toEqual(nothing);
  expect(
    embedOptionsIn("?autoplay=maybe&start=-1&latency=high&colour=red;background:url(x)&origin=javascript:alert(1)"),
  ).toEqual(nothing);
});

test.each([
  ["https://example.com/path?query", "https://example.com"],
  ["http://localhost:3000", "http://localhost:3000"],
  ["null", null],
  ["file:///x", null],
  [null, null],
])("the origin of %s is %s", (text, origin) => expect(originIn(text)).toBe(origin));
