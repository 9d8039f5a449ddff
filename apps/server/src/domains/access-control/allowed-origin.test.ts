import { expect, it } from "vitest";
import { hasOriginList, isOriginAllowed } from "./allowed-origin.ts";

const LIST = ["https://example.com", "https://slash.test/", "http://localhost:3000"];
const from = (origin: string | null, referer = "") => isOriginAllowed(LIST, { origin, referer });

it.each([
  ["https://example.com", true],
  ["https://example.com/", true],
  ["https://slash.test", true],
  ["http://localhost:3000", true],
  ["http://example.com", false],
  ["https://example.com:8443", false],
  ["https://evil-example.com", false],
  ["https://example.com.evil.test", false],
  ["https://sub.example.com", false],
  ["https://EXAMPLE.com", false],
  ["https://slash.test//", false],
  ["null", false],
  ["", false],
  [null, false],
])("a page of %j may play: %s", (origin, allowed) => expect(from(origin)).toBe(allowed));

it.each([
  [null, "https://example.com/watch?v=1", true],
  ["null", "https://example.com/watch", true],
  ["", "https://example.com", true],
  ["https://evil.test", "https://example.com/", false],
  [null, "https://evil.test/https://example.com", false],
  [null, "https://example.com@evil.test/", false],
  [null, "no address", false],
])("with the origin %j its referer %j counts: %s", (origin, referer, allowed) => {
  expect(from(origin, referer)).toBe(allowed);
});

it.each([[undefined], [[]], [["*"]], [["https://example.com", "*"]]])("the list %j lets every page play", (list) => {
  expect(isOriginAllowed(list, { origin: null, referer: "" })).toBe(true);
  expect(hasOriginList(list)).toBe(false);
});
