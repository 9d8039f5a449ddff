import { expect, test } from "vitest";
import { whepAddressOf } from "./webrtc-playback.ts";

test("a live HLS address has one for WebRTC with the same credential, a recording has none", () => {
  expect(whepAddressOf("/hls/abcd1234/index.m3u8?jwt=a.b.c")).toBe("/webrtc/abcd1234?jwt=a.b.c");
  expect(whepAddressOf("/hls/abcd1234/index.m3u8")).toBe("/webrtc/abcd1234");
  expect(whepAddressOf("https://w:8080/hls/abcd1234/index.m3u8")).toBe("https://w:8080/webrtc/abcd1234");
  expect(whepAddressOf("/asset/hls/abcd1234/index.m3u8")).toBeNull();
});
