import { FlvOutput } from "./flv-output.ts";
import type { GeneratedClip } from "./generated-clip.ts";
import { openPicture, openTone } from "./generated-track.ts";
import { runMediaChild } from "./media-child-main.ts";

const PICTURE = {
  codec: "avc",
  width: 1280,
  height: 720,
  frameRate: 30,
  gopSeconds: 2,
  bitrateBps: 2_000_000,
  preset: "ultrafast",
} as const;
const TONE_BITRATE = 96_000;

runMediaChild(async ({ path, seconds, bFrames }: GeneratedClip, begun) => {
  const tracks = [await openPicture({ ...PICTURE, bFrames }), await openTone(TONE_BITRATE)];
  const output = await FlvOutput.open(path, tracks);
  begun();
  const packets = tracks.flatMap((track) => {
    const frames = Array.from({ length: Math.round(seconds / track.frameSeconds) }, () => track.next()).flat();
    const { num, den } = track.encoder.timeBase;
    return [...frames, ...track.finish()].map((packet) => ({
      track,
      packet,
      at: (Number(packet.dts) * num) / den,
      // Frames before zero are the AAC encoder's priming.
      isPriming: packet.pts < 0n,
    }));
  });
  for (const { track, packet, isPriming } of packets.toSorted((a, b) => a.at - b.at)) {
    if (isPriming) packet.free();
    else await output.write(track, packet);
  }
  await output.close();
});
