import { expect, test } from "vitest";
import { rtmpAddressOf } from "./index.ts";

test.each([
  ["rtmp://live.example.com/app/key", "app", "rtmp://live.example.com/app", "key", false],
  [
    "rtmps://live.example.com:443/app/inst/key?a=1/2",
    "app/inst",
    "rtmps://live.example.com:443/app/inst",
    "key?a=1/2",
    true,
  ],
  ["RTMP://user:word@live.example.com/app/key", "app", "rtmp://live.example.com/app", "key", false],
])("%s is split into application and key", (url, app, tcUrl, streamName, isSecure) => {
  expect(rtmpAddressOf(url)).toEqual({ app, tcUrl, streamName, isSecure });
});

test.each(["rtmp://live.example.com", "rtmp://live.example.com/app", "rtmp://live.example.com/app/", "srt://a/b/c"])(
  "%s is not an RTMP publish URL",
  (url) => expect(rtmpAddressOf(url)).toBeNull(),
);
