import { expect, it } from "vitest";
import { draftOf, headersOf, masked, pullOf, trackText } from "./pull-draft.ts";

it.each([
  ["https://a.example/live.m3u8", "", { source: "https://a.example/live.m3u8" }],
  [" srt://a.example:9000 ", "\n", { source: "srt://a.example:9000" }],
  [
    "https://a.example",
    " X-Token :  t: u \n\nA:b",
    { source: "https://a.example", headers: { "X-Token": "t: u", A: "b" } },
  ],
  ["https://a.example", "Authorization", null],
  ["a.example/live.m3u8", "", null],
  ["", "", null],
])("%j with the headers %j is the source %j", (source, headers, pull) => {
  expect(pullOf({ source, headers, onlyWhileWatched: false })).toEqual(pull);
});

it("a source is pulled only while watched if the form says so, and the form shows it", () => {
  const pull = pullOf({ source: "https://a.example", headers: "", onlyWhileWatched: true });
  expect(pull).toEqual({ source: "https://a.example", onlyWhileWatched: true });
  expect(draftOf(pull ?? undefined).onlyWhileWatched).toBe(true);
  expect(draftOf({ source: "https://a.example" }).onlyWhileWatched).toBe(false);
  expect(masked({ source: "https://a.example", onlyWhileWatched: true })).toHaveProperty("onlyWhileWatched", true);
});

it("a header without a value is none", () => {
  expect(headersOf("A:")).toBeNull();
});

it("a source of which Weir hides a part is typed again", () => {
  const source = "https://a.example/live.m3u8";
  expect(draftOf({ source }).source).toBe(source);
  expect(draftOf({ source: "https://***:***@a.example/live.m3u8" }).source).toBe("");
  expect(draftOf({ source, headers: { A: "***" } }).source).toBe("");
  expect(draftOf(undefined).source).toBe("");
});

it("code that others may see has no secret", () => {
  expect(masked({ source: "https://u:p@a.example/?b", headers: { A: "b" } })).toEqual({
    source: "https://USER:PASSWORD@a.example/?SECRET",
    headers: { A: "SECRET" },
  });
  expect(masked({ source: "https://a.example/b?n=1&token=t=u#x" }).source).toBe("https://a.example/b?n=1&token=SECRET");
  expect(masked({ source: "rtmp://a.example/app/key?k=v" }).source).toBe("rtmp://a.example/app/NAME?k=SECRET");
  expect(masked({ source: "https://a.example/live.m3u8" }).source).toBe("https://a.example/live.m3u8");
  expect(masked({ source: "srt://a.example:1?streamid=s&passphrase=p" }).source).toBe(
    "srt://a.example:1?streamid=SECRET&passphrase=SECRET",
  );
});

it("tracks are told in words", () => {
  expect(trackText({ kind: "video", codec: "avc1.64001f", width: 1280, height: 720, frameRate: 30_000 / 1001 })).toBe(
    "video 1280 × 720 (avc1.64001f), 29.97 frames/s",
  );
  expect(trackText({ kind: "audio", codec: "mp4a.40.2", sampleRate: 44_100, channels: 2 })).toBe(
    "audio 44.1 kHz, stereo (mp4a.40.2)",
  );
});
