import { expect, test } from "vitest";
import { srtAddressOf } from "./srt-address.ts";

const plain = { streamId: "", passphrase: null, keyBytes: 0, latencyMs: 120 };

test.each([
  ["srt://live.example.com:9000", {}],
  ["srt://live.example.com:9000?streamid=key", { streamId: "key" }],
  ["SRT://live.example.com:9000/?streamId=a%2Fb+c&mode=caller", { streamId: "a/b+c" }],
  ["srt://live.example.com:9000?streamid=#!::r=cam?2,m=publish&latency=500", { streamId: "#!::r=cam?2,m=publish" }],
  ["srt://[2001:db8::1]:9000?passphrase=0123456789&pbkeylen=32", { passphrase: "0123456789", keyBytes: 32 }],
  ["srt://live.example.com:9000?streamid=100%", { streamId: "100%" }],
])("%s is parsed", (url, parts) => {
  const latencyMs = url.includes("latency") ? 500 : 120;
  expect(srtAddressOf(url)).toEqual({ ...plain, latencyMs, ...parts });
});

test.each([
  ["", "it has no port: srt://host:port?streamid=key"],
  [":9000?mode=listener", "its mode must be caller"],
  [`:9000?streamid=${"x".repeat(513)}`, "its streamid is over 512 bytes"],
  [":9000?passphrase=short-one", "its passphrase must have 10 to 79 characters"],
  [":9000?pbkeylen=20", "its pbkeylen must be 16, 24 or 32"],
  [":9000?latency=120000", "its latency must be a number of milliseconds up to 10000"],
])("a URL that ends with %j is refused with a reason", (end, sentence) => {
  expect(srtAddressOf(`srt://live.example.com${end}`)).toBe(sentence);
});
