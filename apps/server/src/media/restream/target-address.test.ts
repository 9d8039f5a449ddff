import { expect, test } from "vitest";
import { cleanWords } from "./target-address.ts";

test.each([
  ["Stream live_123abc is taken", "Stream … is taken"],
  ["no such app/live_123abc?auth=s3cr%20t here", "no such … here"],
  ["LIVE_123ABC: bad s3cr t", "…: bad …"],
  ["hello word5 at live.example.com", "hello … at live.example.com"],
  ["two\nlines\u0000 and\u202e more", "two lines and more"],
  ["", ""],
])("%j is shown as %j", (words, clean) => {
  expect(cleanWords(words, "rtmp://user:word5@live.example.com/app/live_123abc?auth=s3cr%20t")).toBe(clean);
});

test("a short key is hidden, a short application name is not", () => {
  expect(cleanWords("live: no such key abc", "rtmp://a.example/live/abc")).toBe("live: no such key …");
});

test("a long message is truncated", () => {
  expect(cleanWords("x".repeat(10_000), "rtmp://a/b/c").length).toBeLessThan(210);
});
