import { expect, test } from "vitest";
import { parseStillAddress } from "./still-address.ts";

test.each([
  ["/hls/abcd1/source/latest.jpg", { kind: "still", playbackId: "abcd1", picture: "latest", format: "jpeg" }],
  ["/asset/hls/abcd1/thumbnail.png?time=3", { kind: "still", playbackId: "abcd1", picture: "at", format: "png" }],
  ["/hls/abcd1/thumbnails/keyframes_12.jpg", { kind: "still", playbackId: "abcd1", picture: 12, format: "jpeg" }],
  ["/asset/hls/abcd1/thumbnails/thumbnails.vtt?jwt=x", { kind: "storyboard", playbackId: "abcd1", cues: "sheets" }],
  ["/asset/hls/abcd1/thumbnails/keyframes.vtt", { kind: "storyboard", playbackId: "abcd1", cues: "pictures" }],
  ["/asset/hls/abcd1/animated.webp?start=3", { kind: "preview", playbackId: "abcd1" }],
  ["/asset/hls/abcd1/thumbnails/storyboard_3.jpg?jwt=x", { kind: "sheet", playbackId: "abcd1", nth: 3 }],
])("%s is the URL of a thumbnail", (url, address) => {
  expect(parseStillAddress(url)).toEqual(address);
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
  "/hls/ab/thumbnail.jpg",
])("%s is not", (url) => {
  expect(parseStillAddress(url)).toBeNull();
});
