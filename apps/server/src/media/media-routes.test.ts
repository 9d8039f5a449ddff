import { expect, test } from "vitest";
import { MediaRig } from "./testing/media-rig.ts";

test("an address belongs to the delivery of its prefix, and one without a delivery is not found", async () => {
  await using rig = await MediaRig.open();
  const answers = async (path: string, method = "GET") => {
    const response = await rig.fetch(path, { method });
    return { status: response.status, allow: response.headers.get("allow"), body: await response.text() };
  };
  const notFound = {
    status: 404,
    allow: null,
    body: '{"errors":["not found"],"message":"not found","code":"not-found"}',
  };
  const notAllowed = {
    status: 405,
    allow: "GET, HEAD, OPTIONS",
    body: expect.stringContaining('"code":"method-not-allowed"'),
  };
  expect(await answers("/hls/unknown1/index.m3u8")).toMatchObject({ status: 401 });
  expect(await answers("/asset/hls/unknown1/index.m3u8")).toMatchObject({ status: 401 });
  // An address of HLS is none under another prefix.
  for (const path of ["/webrtc/playback1", "/webrtc/hls/playback1/index.m3u8", "/", "/hls"]) {
    expect(await answers(path)).toEqual(notFound);
    expect(await answers(path, "POST")).toEqual(notAllowed);
    expect(await answers(path, "OPTIONS")).toMatchObject({ status: 204, body: "" });
  }
  expect(rig.plane.figures.requests).toBe(14);
});
