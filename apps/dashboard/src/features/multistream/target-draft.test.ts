import { expect, it } from "vitest";
import { addressOf, EMPTY_TARGET, hasAddress, newTargetOf, targetPatchOf, withPlatform } from "./target-draft.ts";

it("a platform brings its server, and its name unless one was typed", () => {
  expect(withPlatform(EMPTY_TARGET, "youtube")).toMatchObject({
    name: "YouTube",
    server: "rtmps://a.rtmps.youtube.com/live2",
  });
  expect(withPlatform({ ...EMPTY_TARGET, name: "Mine" }, "youtube").name).toBe("Mine");
  expect(withPlatform(EMPTY_TARGET, "custom")).toMatchObject({ name: "", server: "" });
});

it.each([
  ["rtmp://a.example/live", "key", "rtmp://a.example/live/key", true],
  ["rtmp://a.example/live/ ", " key?x=1 ", "rtmp://a.example/live/key?x=1", true],
  ["rtmp://a.example/live/key", "", "rtmp://a.example/live/key", true],
  ["rtmp://a.example/live", "", "rtmp://a.example/live", false],
  ["srt://a.example:9000", "a/b", "srt://a.example:9000?streamid=a%2Fb", true],
  ["srt://a.example:9000?latency=500", "key", "srt://a.example:9000?latency=500&streamid=key", true],
  ["srt://a.example:9000?streamid=#!::r=x", "", "srt://a.example:9000?streamid=#!::r=x", true],
  ["srt://a.example", "key", "srt://a.example?streamid=key", false],
  ["https://a.example/live", "key", "https://a.example/live/key", false],
  ["", "key", "/key", false],
])("%j and %j are the address %j, whole: %s", (server, streamKey, address, isWhole) => {
  expect(addressOf({ server, streamKey })).toBe(address);
  expect(hasAddress({ server, streamKey })).toBe(isWhole);
});

it("a new target says only what was chosen", () => {
  const draft = { ...EMPTY_TARGET, streamKey: "key" };
  const spec = { name: "Twitch", url: "rtmps://live.twitch.tv/app/key" };
  expect(newTargetOf(draft)).toEqual({ profile: "source", spec });
  expect(newTargetOf({ ...draft, name: " ", videoOnly: true, slate: true })).toEqual({
    profile: "source",
    videoOnly: true,
    slate: true,
    spec: { url: spec.url },
  });
});

it("blank fields keep what a target has", () => {
  expect(targetPatchOf("New", { server: "", streamKey: "" })).toEqual({ name: "New" });
  expect(targetPatchOf(" ", { server: "rtmp://a.example/live", streamKey: "key" })).toEqual({
    url: "rtmp://a.example/live/key",
  });
});
