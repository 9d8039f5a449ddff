import { startMediaChild } from "../../src/media/transcode/media-child.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { silentLog } from "../../src/platform/log.ts";

export interface PublisherOptions {
  /** `rtmp://127.0.0.1:1935/live/{stream key}`, or the path of an FLV file. */
  readonly url: string;
  /** Stops cleanly by itself after this time. */
  readonly seconds?: number;
  readonly codec?: "avc" | "hevc" | "av1";
  readonly width?: number;
  readonly height?: number;
  /** Whole frames per second. */
  readonly frameRate?: number;
  readonly gopSeconds?: number;
  readonly bFrames?: number;
  readonly bitrateBps?: number;
  /** Pixel format; the transcoder does not support the second. */
  readonly pixels?: "yuv420p" | "yuv444p10le";
  readonly video?: boolean;
  readonly audio?: boolean;
  /** Each picture carries its number, from 0, and none is repeated. Needs at least 320 by 180 pixels. */
  readonly isNumbered?: boolean;
  /** At the start of every second a white picture and a beep; else black and silent. Encoded as long as it lasts, not in a loop. */
  readonly flashes?: boolean;
  /** False sends as fast as the server reads, like ffmpeg without `-re`. */
  readonly inRealTime?: boolean;
}

export type PublisherJob = Required<PublisherOptions>;

const DEFAULTS: Omit<PublisherJob, "url"> = {
  seconds: 60,
  codec: "avc",
  width: 640,
  height: 360,
  frameRate: 30,
  gopSeconds: 2,
  bFrames: 0,
  bitrateBps: 800_000,
  pixels: "yuv420p",
  video: true,
  audio: true,
  isNumbered: false,
  flashes: false,
  inRealTime: true,
};

/** A real broadcaster: FFmpeg's encoder, muxer and RTMP client in a separate process. */
export interface Publisher {
  readonly pid: number;
  /** Resolves when the process has exited: with null after a clean stop, else the reason. */
  readonly ended: Promise<string | null>;
  /** Stops like a user, with FCUnpublish and deleteStream. */
  stop(): Promise<void>;
  /** Drops the connection by killing the process. */
  kill(): Promise<void>;
  /** Stops sending and reading with the connection open. */
  freeze(): void;
  /** Continues, and immediately sends overdue packets. */
  thaw(): void;
}

/** Encodes a short clip, connects, and repeats the clip in real time. Resolves when the server has accepted; rejects with FFmpeg's error for a refusal. */
export async function startPublisher(options: PublisherOptions): Promise<Publisher> {
  const job: PublisherJob = { ...DEFAULTS, ...options };
  const child = startMediaChild({
    module: new URL("./publisher-child.ts", import.meta.url),
    job,
    lifeMs: (job.seconds + 60) * 1000,
    clock: systemClock,
    log: silentLog,
  });
  await child.begun;
  return {
    pid: child.pid,
    ended: child.ended.then((end) => (end.ok ? null : end.reason)),
    stop: async () => {
      child.finish();
      const end = await child.ended;
      if (!end.ok) process.stderr.write(`a publisher did not stop cleanly: ${end.reason}\n`);
    },
    kill: () => child.kill(),
    freeze: () => process.kill(child.pid, "SIGSTOP"),
    thaw: () => process.kill(child.pid, "SIGCONT"),
  };
}
