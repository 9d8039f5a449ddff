import { expect, test } from "vitest";
import { parseStoryboard, pictureAt, pictureAtDate, storyboardAddress } from "./storyboard.ts";

const BASE = "https://weir.test/asset/hls/abcd/thumbnails/thumbnails.vtt?jwt=a.b";
const FILES = "https://weir.test/asset/hls/abcd/thumbnails";

test("a list may name a file for each picture", () => {
  const list =
    "WEBVTT\n\n00:00:00.000 --> 00:00:02.000\nkeyframes_0.jpg?jwt=a.b\n\n01:00:02.000 --> 01:00:04.500\nkeyframes_1.jpg\n";
  expect(parseStoryboard(list, BASE)).toEqual([
    { startSeconds: 0, url: `${FILES}/keyframes_0.jpg?jwt=a.b`, part: null },
    { startSeconds: 3602, url: `${FILES}/keyframes_1.jpg`, part: null },
  ]);
});

test("a list may name parts of files that hold many pictures", () => {
  const list = "WEBVTT\r\n\r\n1\r\n00:05.250 --> 00:07.000 align:start\r\nsprite_0.jpg?jwt=a.b#xywh=160,90,160,90\r\n";
  const [picture] = parseStoryboard(list, BASE);
  expect(picture).toEqual({
    startSeconds: 5.25,
    url: `${FILES}/sprite_0.jpg?jwt=a.b`,
    part: { x: 160, y: 90, width: 160, height: 90 },
  });
});

test("text that is no list has no pictures", () => {
  for (const text of ["", "<!doctype html>", "WEBVTT\n\n00:00:00.000 --> 00:00:02.000", "WEBVTT\n\nNOTE nothing"])
    expect(parseStoryboard(text, BASE)).toEqual([]);
});

test("a moment has the last picture that begins before it", () => {
  const at = (startSeconds: number) => ({ startSeconds, url: String(startSeconds), part: null });
  const pictures = [at(0), at(2), at(6)];
  expect([-1, 0, 1.9, 2, 5.9, 6, 1e9].map((seconds) => pictureAt(pictures, seconds)?.startSeconds)).toEqual([
    0, 0, 0, 2, 2, 6, 6,
  ]);
  expect(pictureAt([], 3)).toBeNull();
});

test("the list lies beside the playlist and takes the same credentials", () => {
  expect(storyboardAddress("/asset/hls/abcd/index.m3u8?jwt=a.b")).toBe(
    "/asset/hls/abcd/thumbnails/thumbnails.vtt?jwt=a.b",
  );
  expect(storyboardAddress("/hls/abcd/index.m3u8")).toBe("/hls/abcd/thumbnails/thumbnails.vtt");
});

test("a picture of a live stream is found by when it was, as its list moves on", () => {
  const cue = (name: string, at: string, file: string) => `${name}\n${at} --> 00:00:59.000\n${file}\n`;
  const text = [
    "WEBVTT\n",
    cue("2026-01-01T00:00:05.000Z", "00:00:05.000", "a.jpg"),
    cue("2026-01-01T00:01:05.000Z", "00:00:10.000", "b.jpg"),
  ].join("\n");
  const pictures = parseStoryboard(text, "http://w/hls/x/thumbnails/");
  const at = (time: string) => pictureAtDate(pictures, Date.parse(`2026-01-01T${time}Z`))?.url;
  expect(["00:00:00", "00:00:30", "00:02:00"].map(at)).toEqual(
    ["a.jpg", "a.jpg", "b.jpg"].map((name) => `http://w/hls/x/thumbnails/${name}`),
  );
  expect(pictureAtDate(parseStoryboard("WEBVTT\n\n00:01.000 --> 00:02.000\nc.jpg\n", "http://w/"), 0)).toBeNull();
});
