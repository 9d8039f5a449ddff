import { readVideoTag } from "@weir/formats/flv";
import { MESSAGE } from "@weir/formats/rtmp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Broadcast } from "./support/broadcast.ts";
import { type FlvTag, readFlv } from "./support/flv-file.ts";
import { NginxRtmp } from "./support/nginx-rtmp.ts";
import { WeirProcess } from "./support/weir-process.ts";

const FRAME_MS = 1000 / 30;

let weir: WeirProcess;
let nginx: NginxRtmp;
beforeAll(async () => {
  weir = await WeirProcess.start({ env: { WEIR_ALLOW_PRIVATE_URLS: "1" } });
  nginx = await NginxRtmp.start();
});
afterAll(async () => {
  await nginx?.[Symbol.asyncDispose]();
  await weir?.[Symbol.asyncDispose]();
});

/** Presentation times in milliseconds, sorted. */
function timesOf(tags: readonly FlvTag[], typeId: number): number[] {
  const frames = tags.filter((tag) => tag.typeId === typeId && tag.payload[1] === 1);
  const offset = ({ payload }: FlvTag) => (typeId === MESSAGE.video ? readVideoTag(payload).compositionTime : 0);
  return frames.map((tag) => tag.timeMs + offset(tag)).sort((a, b) => a - b);
}

test("an nginx that is killed and restarted gets the broadcast again, with audio and video in sync", async () => {
  const targets = [{ profile: "source", spec: { name: "nginx", url: nginx.urlOf("nginx-secret-key") } }];
  const stream = await weir.client.streams.create({ name: "to nginx", profiles: [], multistream: { targets } });
  await using broadcast = new Broadcast(weir, weir, stream, { seconds: 60, bFrames: 2, frameRate: 30 });
  const untilTarget = (state: string) =>
    expect
      .poll(async () => (await broadcast.now()).multistream.targets[0]?.status.state, { timeout: 30_000 })
      .toBe(state);
  await broadcast.publish();
  await untilTarget("Online");
  await nginx.kill();
  await untilTarget("Pending");
  await nginx.restart();
  await untilTarget("Online");
  await expect.poll(async () => (await broadcast.now()).isHealthy, { timeout: 5_000 }).toBe(true);

  await broadcast.publisher.stop();
  await broadcast.untilState("idle");
  const recorded = await readFlv(nginx.recordingOf("nginx-secret-key"));
  const [video, audio] = [timesOf(recorded, MESSAGE.video), timesOf(recorded, MESSAGE.audio)];
  expect(video.length).toBeGreaterThan(60);
  // The broadcast was cut off, so B-frames presented before the last picture may be missing.
  video.pop();
  for (const [index, time] of video.entries()) {
    if (index > 0) expect(Math.abs(time - (video[index - 1] ?? 0) - FRAME_MS)).toBeLessThan(2);
  }
  // Both start at the keyframe, which is decoded two pictures before it is shown.
  expect(Math.abs((audio[0] ?? 0) - (video[0] ?? 0))).toBeLessThan(3 * FRAME_MS);
  expect(Math.abs((audio.at(-1) ?? 0) - (video.at(-1) ?? 0))).toBeLessThan(5 * FRAME_MS);
}, 120_000);
