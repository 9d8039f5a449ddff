import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { readCredentials } from "./playback-credentials.ts";

function read(url: string, headers: Record<string, string | string[]> = {}) {
  const headersDistinct = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat()]));
  const joined = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(", ")]));
  return readCredentials({ headers: joined, headersDistinct } as unknown as IncomingMessage, url);
}

const none = { tokens: [], accessKeys: [] };

test.each([
  ["service-jwt", { tokens: ["a"], accessKeys: [] }],
  ["livepeer-jwt", { tokens: ["a"], accessKeys: [] }],
  ["service-access-key", { tokens: [], accessKeys: ["a"] }],
  ["livepeer-access-key", { tokens: [], accessKeys: ["a"] }],
])("the header %s is read", (name, expected) => {
  expect(read("/hls/x/index.m3u8", { [name]: "a" })).toEqual(expected);
});

test("the query is percent-decoded", () => {
  expect(read("/x?jwt=a.b-c_d&accessKey=one%20two%2B%26%C3%BC")).toEqual({
    tokens: ["a.b-c_d"],
    accessKeys: ["one two+&ü"],
  });
});

test("two different values are both reported, from header or query; a repeated value counts once", () => {
  expect(read("/x?jwt=a", { "service-jwt": "a", "livepeer-jwt": "a" })).toEqual({ tokens: ["a"], accessKeys: [] });
  expect(read("/x?jwt=a", { "service-jwt": "b" })).toEqual({ tokens: ["a", "b"], accessKeys: [] });
  expect(read("/x?jwt=a&jwt=b")).toEqual({ tokens: ["a", "b"], accessKeys: [] });
  expect(read("/x", { "service-access-key": ["a", "b"] })).toEqual({ tokens: [], accessKeys: ["a", "b"] });
  expect(read("/x?accessKey=1&accessKey=2&accessKey=3")).toEqual({ tokens: [], accessKeys: ["1", "2"] });
});

test("an empty value counts as absent", () => {
  expect(read("/x?accessKey=&jwt=", { "service-access-key": "" })).toEqual(none);
  expect(read("/x?accessKey")).toEqual(none);
  expect(read("/x")).toEqual(none);
});

test.each(["/x?accessKey=a%00b", "/x?accessKey=a%0D%0AX-Injected:%201", "/x?accessKey=%FF%FE", "/x?jwt=a%7F"])(
  "71: what could not be passed on exactly is refused: %s",
  (url) => {
    expect(read(url)).toBe("invalid");
  },
);

test("a UTF-8 header is decoded, an invalid one is refused", () => {
  const asNodeReadsIt = Buffer.from("schlüssel ☃").toString("latin1");
  expect(read("/x", { "service-access-key": asNodeReadsIt })).toEqual({ tokens: [], accessKeys: ["schlüssel ☃"] });
  expect(read("/x", { "service-access-key": "\xff\xfe" })).toBe("invalid");
  expect(read("/x", { "service-access-key": "a\tb" })).toBe("invalid");
});
