import { expect, test } from "vitest";
import { parseStillAddress } from "./still-address.ts";

test.each([
  ["/hls/abcd1/source/latest.jpg", { kind: "still", picture: "latest", format: "jpeg" }],
  ["/asset/hls/abcd1/thumbnail.png?time=3", { kind: "still", picture: "at", format: "png" }],
  ["/hls/abcd1/thumbnails/keyframes_12.jpg", { kind: "still", picture: 12, format: "jpeg" }],
  ["/asset/hls/abcd1/thumbnails/thumbnails.vtt?jwt=x", { kind: "storyboard", cues: "sheets" }],
  ["/asset/hls/abcd1/thumbnails/keyframes.vtt", { kind: "storyboard", cues: "pictures" }],
  ["/asset/hls/abcd1/animated.webp?start=3", { kind: "preview" }],
  ["/asset/hls/abcd1/thumbnails/storyboard_3.jpg?jwt=x", { kind: "sheet", nth: 3 }],
  ["/hls/abcd1/thumbnails/s/a-b_1/12.jpg", { kind: "moment", sessionId: "a-b_1", msn: 12 }],
])("%s is the URL of a thumbnail", (url, address) => {
  const followed = { playbackId: "abcd1", protocol: "hls", token: null, step: "follow" };
  expect(parseStillAddress(url)).toEqual({ ...followed, ...address });
});

test.each([
  "/hls/abcd1/thumbnails/../thumbnail.jpg",
  "/hls/abcd1/thumbnail%2ejpg",
  "/hls/abcd1/source/latest.jpg/",
  "/hls/abcd1/source/latest.vtt",
  "/hls/abcd1/thumbnails/keyframes_1234567.jpg",
  "/hls/abcd1/thumbnails/thumbnails.vtt#x",
  "/hls/abcd1/thumbnails/storyboard_0.jpg#xywh=0,0,160,90",
  "/hls/abcd1/thumbnails/storyboard_0.png",
  "/hls/abcd1/thumbnails/s/../12.jpg",
  "/hls/abcd1/thumbnails/s/a/12.png",
  "/hls/abcd1/thumbnails/s/a/-1.jpg",
  "/hls/ab/thumbnail.jpg",
])("%s is not", (url) => {
  expect(parseStillAddress(url)).toBeNull();
});
