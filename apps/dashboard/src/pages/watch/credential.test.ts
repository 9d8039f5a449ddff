import { expect, test } from "vitest";
import { credentialInMessage, credentialInQuery, playlistAddress, posterAddress } from "./credential.ts";

test("a page's address brings a token or an access key", () => {
  expect(credentialInQuery("?jwt=a.b.c")).toEqual({ name: "jwt", value: "a.b.c" });
  expect(credentialInQuery("?accessKey=k%20k&x=1")).toEqual({ name: "accessKey", value: "k k" });
  expect(credentialInQuery("?jwt=")).toBeNull();
});

test("only a message that says that it brings a credential brings one", () => {
  expect(credentialInMessage({ type: "weir:credential", jwt: "a.b.c" })).toEqual({ name: "jwt", value: "a.b.c" });
  for (const other of [
    null,
    "weir:credential",
    { jwt: "a" },
    { type: "weir:credential" },
    { type: "weir:credential", jwt: 1 },
  ])
    expect(credentialInMessage(other)).toBeNull();
});

test("a credential reaches the playlist as one query parameter, whatever is in it", () => {
  const address = playlistAddress("abcd", { name: "accessKey", value: "a&b=c#d" });
  expect(new URL(address, "http://w").searchParams.get("accessKey")).toBe("a&b=c#d");
  expect(playlistAddress("../x", null)).toBe("/hls/..%2Fx/index.m3u8");
});

test("the picture before the video brings the credential too", () => {
  expect(posterAddress("/hls/abcd/thumbnail.jpg", null)).toBe("/hls/abcd/thumbnail.jpg?width=1280");
  expect(posterAddress("/asset/hls/abcd/thumbnail.jpg", { name: "jwt", value: "a.b" })).toBe(
    "/asset/hls/abcd/thumbnail.jpg?width=1280&jwt=a.b",
  );
});
