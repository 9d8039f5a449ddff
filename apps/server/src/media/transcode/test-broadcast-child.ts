import { systemClock } from "../../platform/clock.ts";
import { FlvOutput } from "./flv-output.ts";
import { openPicture, openTone } from "./generated-track.ts";
import { runMediaChild } from "./media-child-main.ts";
import { RealTime } from "./real-time.ts";
import type { TestBroadcastJob } from "./test-broadcast.ts";
import { drawWallClock } from "./wall-clock-picture.ts";

const PICTURE = {
  codec: "avc",
  width: 640,
  height: 360,
  frameRate: 30,
  gopSeconds: 2,
  bFrames: 0,
  bitrateBps: 1_200_000,
  preset: "veryfast",
} as const;
const TONE_BITRATE = 96_000;

runMediaChild(async ({ url, seconds }: TestBroadcastJob, begun, signal) => {
  const picture = await openPicture(PICTURE);
  const tone = await openTone(TONE_BITRATE);
  const output = await FlvOutput.open(url, [picture, tone]);
  begun();

  const startedAt = systemClock.now();
  const time = new RealTime(systemClock);
  const made = new Map([picture, tone].map((track) => [track, 0]));
  while (!signal.aborted) {
    const pictureAt = (made.get(picture) ?? 0) * picture.frameSeconds;
    const toneAt = (made.get(tone) ?? 0) * tone.frameSeconds;
    const [track, at] = toneAt < pictureAt ? [tone, toneAt] : [picture, pictureAt];
    if (at >= seconds) break;
    await time.until(at * 1000);
    made.set(track, (made.get(track) ?? 0) + 1);
    // The time that is drawn is the one that the frame is stamped with, however late the machine makes it.
    const packets = track.next((frame) => {
      const data = frame.isVideo() && frame.data?.[0];
      if (!data) return;
      const plane = { data, lineSize: frame.linesize[0] ?? 0, width: frame.width, height: frame.height };
      drawWallClock(plane, startedAt + at * 1000);
    });
    for (const packet of packets) {
      // The encoder's priming, before the first sample.
      if (packet.pts < 0n) packet.free();
      else await output.write(track, packet);
    }
  }
  await output.close();
});
