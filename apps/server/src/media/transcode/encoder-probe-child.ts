import { writeSync } from "node:fs";
import { Frame } from "node-av/lib";
import { check } from "./ffmpeg.ts";
import { RungEncoder } from "./rung-encoder.ts";
import type { EncoderName, TranscodeRung } from "./transcode-protocol.ts";

/** Writes a line to descriptor 4 with each hardware encoder that really encodes: that one is compiled in, or a driver is there, says little. VAAPI is not asked, for it takes no pictures from main memory. */

const HARDWARE: readonly EncoderName[] = ["h264_nvenc", "h264_qsv"];
const RUNG: TranscodeRung = {
  index: 0,
  width: 640,
  height: 360,
  bitrateBps: 800_000,
  frameRate: null,
  profile: "main",
  quality: null,
  keyframeSeconds: null,
  level: "",
};

for (const encoder of HARDWARE) {
  if (await encodes(encoder)) writeSync(4, `${encoder}\n`);
}
process.exit(0);

async function encodes(name: EncoderName): Promise<boolean> {
  try {
    // The source matters to the shape of the picture alone.
    const video = { codec: "av1", config: "", width: RUNG.width, height: RUNG.height } as const;
    const encoder = await RungEncoder.open(RUNG, { video, rungs: [], preset: "", encoder: name });
    const frame = new Frame();
    frame.alloc();
    Object.assign(frame, { width: RUNG.width, height: RUNG.height, format: encoder.pixelFormat });
    check(frame.getBuffer(), "no memory for a picture");
    return (await encoder.encode(frame, 0, true))?.isIndependent === true;
  } catch {
    return false;
  }
}
