import { expect, test } from "vitest";
import { playlistAddress, posterAddress } from "./addresses.ts";

test("a credential reaches the playlist as one query parameter, whatever is in it", () => {
  const address = playlistAddress("", "abcd", { name: "accessKey", value: "a&b=c#d" });
  expect(new URL(address, "http://w").searchParams.get("accessKey")).toBe("a&b=c#d");
  expect(playlistAddress("https://w.test", "../x", null)).toBe("https://w.test/hls/..%2Fx/index.m3u8");
});

test("the picture before the video brings the credential too", () => {
  expect(posterAddress("/hls/abcd/thumbnail.jpg", null)).toBe("/hls/abcd/thumbnail.jpg?width=1280");
  expect(posterAddress("/asset/hls/abcd/thumbnail.jpg", { name: "jwt", value: "a.b" })).toBe(
    "/asset/hls/abcd/thumbnail.jpg?width=1280&jwt=a.b",
  );
});
