import { expect, test } from "vitest";
import {
  AAC_CONFIG_HEAD,
  AAC_FRAME_HEAD,
  readAudioTag,
  readVideoTag,
  videoConfigHead,
  videoFrameHead,
} from "./index.ts";

const CODECS = { avc: "avc1", hevc: "hvc1", av1: "av01" } as const;
const withData = (head: Uint8Array) => Uint8Array.from([...head, 0xaa, 0xbb]);

test.each(["avc", "hevc", "av1"] as const)("a frame and a configuration of %s round-trip", (codec) => {
  const shared = { codec: CODECS[codec], dataEnd: expect.any(Number) };
  for (const isKeyframe of [true, false]) {
    const compositionTime = codec === "av1" ? 0 : 80;
    const head = videoFrameHead({ codec, isKeyframe, compositionTime });
    const frame = { ...shared, content: "frame", isKeyframe, compositionTime, dataOffset: head.byteLength };
    expect(readVideoTag(withData(head))).toEqual(frame);
  }
  const head = videoConfigHead(codec);
  expect(readVideoTag(withData(head))).toMatchObject({ ...shared, content: "config", dataOffset: head.byteLength });
});

test("AAC frames and configurations round-trip", () => {
  expect(readAudioTag(withData(AAC_CONFIG_HEAD))).toEqual({ codec: "mp4a", content: "config", dataOffset: 2 });
  expect(readAudioTag(withData(AAC_FRAME_HEAD))).toEqual({ codec: "mp4a", content: "frame", dataOffset: 2 });
});
