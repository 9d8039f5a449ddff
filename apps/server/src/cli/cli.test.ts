import { expect, test } from "vitest";
import { originOf } from "./cli.ts";
import { CliError } from "./exit-codes.ts";

test.each([
  ["video.example.com", "https://video.example.com"],
  ["https://video.example.com/", "https://video.example.com"],
  ["HTTP://192.0.2.1:8080/docs", "http://192.0.2.1:8080"],
  ["localhost:8080", "http://localhost:8080"],
  ["[::1]:8080", "http://[::1]:8080"],
])("%s is the server at %s", (text, origin) => {
  expect(originOf(text)).toBe(origin);
});

test.each(["ftp://video.example.com", "rtmp://video.example.com/live", "", "https://", "two words"])(
  "%j is the address of no server",
  (text) => {
    expect(() => originOf(text)).toThrow(CliError);
  },
);
