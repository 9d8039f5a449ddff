import { afterAll, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { silentLog } from "../../platform/log.ts";
import { Slices } from "../../platform/slices.ts";
import { type TranscodeChild, TranscodePool } from "../transcode/index.ts";
import { makeSource, timesOf } from "../transcode/transcode-child-rig.ts";
import { type Keyframe, StillMaker } from "./still-maker.ts";

const SHAPE = { maxWidth: 160, maxHeight: 160, format: "jpeg" } as const;
const pool = new TranscodePool(silentLog, new Slices(systemClock));
const started: TranscodeChild[] = [];
const maker = new StillMaker({
  clock: systemClock,
  log: silentLog,
  children: {
    take: (handler) => pool.take(handler),
    start: (handler) => {
      const child = pool.start(handler);
      started.push(child);
      return child;
    },
  },
});
afterAll(() => {
  maker.close();
  pool.close();
});

let keyframe: Keyframe;
beforeEach(async () => {
  const { video, packets } = await makeSource({ times: timesOf(1, 30) });
  keyframe = { codec: video.codec, config: Buffer.from(video.config, "base64"), data: packets[0]?.data ?? Buffer.of() };
});

const isJpeg = (image: Uint8Array | null) => image?.[0] === 0xff && image[1] === 0xd8;

test("an image becomes a keyframe for the parameter sets of a source, by the same child; what is no image becomes none", async () => {
  const image = await maker.make(keyframe, SHAPE);
  const slate = (bytes: Uint8Array) => maker.slate(keyframe.config, bytes);
  const made = await slate(image ?? Buffer.of());
  expect(isJpeg(await maker.make({ ...keyframe, data: made ?? Buffer.of() }, SHAPE))).toBe(true);
  expect(await slate(Buffer.from("<svg/>"))).toBeNull();
  expect(started).toHaveLength(1);
});

test("an undecodable keyframe fails alone, a decoder crash ends only the child; other images are made", async () => {
  expect(isJpeg(await maker.make(keyframe, SHAPE))).toBe(true);
  expect(await maker.make({ ...keyframe, data: Buffer.alloc(4_000, 0xff) }, SHAPE)).toBeNull();
  expect(isJpeg(await maker.make(keyframe, SHAPE))).toBe(true);
  expect(started).toHaveLength(1);

  const [first] = started;
  process.kill(first?.pid ?? 0, "SIGSTOP");
  const [lost, next] = [maker.make(keyframe, SHAPE), maker.make(keyframe, SHAPE)];
  // No thread of it runs again. A SIGSEGV would be taken by any of them, while another may finish the image.
  process.kill(first?.pid ?? 0, "SIGKILL");
  expect(await lost).toBeNull();
  expect(isJpeg(await next)).toBe(true);
  expect(started).toHaveLength(2);
});
