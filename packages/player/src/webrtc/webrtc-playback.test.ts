import { expect, test } from "vitest";
import { gathered, whepAddressOf } from "./webrtc-playback.ts";

test("a live HLS address has one for WebRTC with the same credential, a recording has none", () => {
  expect(whepAddressOf("/hls/abcd1234/index.m3u8?jwt=a.b.c")).toBe("/webrtc/abcd1234?jwt=a.b.c");
  expect(whepAddressOf("/hls/abcd1234/index.m3u8")).toBe("/webrtc/abcd1234");
  expect(whepAddressOf("https://w:8080/hls/abcd1234/index.m3u8")).toBe("https://w:8080/webrtc/abcd1234");
  expect(whepAddressOf("/asset/hls/abcd1234/index.m3u8")).toBeNull();
});

test("one relay is waited for and not the networks that do not lead to it", async () => {
  const peer = Object.assign(new EventTarget(), { iceGatheringState: "gathering" });
  let isDone = false;
  const done = gathered(peer as never).then(() => {
    isDone = true;
  });
  const find = (type: string) => peer.dispatchEvent(Object.assign(new Event("icecandidate"), { candidate: { type } }));
  find("host");
  await Promise.resolve();
  expect(isDone).toBe(false);
  find("relay");
  await done;
});
