import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "vitest";
import type { WeirServer } from "./weir-server.ts";

interface FilePacket {
  readonly codec_type: string;
  readonly pts_time: string;
}

export type RecordedTimes = Record<"video" | "audio", number[]>;

/** Presentation times, in s, of the recording of a stream that ended, as they are in its file. */
export async function recordedTimes({ client }: WeirServer, streamId: string): Promise<RecordedTimes> {
  const session = async () => (await client.sessions.ofStream(streamId)).items[0];
  await expect.poll(async () => (await session())?.recordingStatus, { timeout: 40_000 }).toBe("ready");
  const args = ["-v", "error", "-of", "json", "-show_entries", "packet=codec_type,pts_time"];
  const url = (await session())?.mp4Url ?? "";
  const { stdout } = await promisify(execFile)("ffprobe", [...args, url], { maxBuffer: 64 * 1024 * 1024 });
  const { packets } = JSON.parse(stdout) as { packets: FilePacket[] };
  const of = (kind: string) => packets.filter((one) => one.codec_type === kind).map((one) => Number(one.pts_time));
  return { video: of("video"), audio: of("audio") };
}

export const stepsOf = (times: readonly number[]) => times.slice(1).map((time, at) => time - (times[at] ?? 0));

/** Picture and sound begin and end together; returns how often pictures are missing. A cut in decoding order leaves out up to 2 B-frames. */
export function checkTimes({ video, audio }: RecordedTimes): number {
  const shown = video.toSorted((left, right) => left - right);
  expect(Math.abs((shown[0] ?? 0) - (audio[0] ?? 9))).toBeLessThan(1.2);
  expect(Math.abs((shown.at(-1) ?? 0) - (audio.at(-1) ?? 9))).toBeLessThan(0.5);
  const steps = stepsOf(shown);
  expect(Math.min(...steps)).toBeGreaterThan(0.01);
  return steps.filter((step) => step > 0.15).length;
}
