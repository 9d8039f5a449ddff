import type { Ingest } from "@weir/contract";

/** The addresses to publish to; those that a server does not have are absent. */
export type PublishAddresses = Pick<Ingest["ingests"], "rtmp" | "rtmps" | "srt" | "srtPassphrase"> & {
  readonly whip?: string;
};

/** One address that has everything in it: encoders differ in what else they read. */
export function srtAddress(srt: string, passphrase: string | undefined, streamKey: string): string {
  return `${srt}?streamid=${streamKey}${passphrase === undefined ? "" : `&passphrase=${passphrase}`}`;
}

// Lines are short, so that a phone breaks few of them.
const PICTURE = [
  "videotestsrc is-live=true",
  "! video/x-raw,width=1280,height=720,framerate=30/1",
  "! x264enc tune=zerolatency key-int-max=60 bitrate=2500",
  "! h264parse ! mux.",
];
const SOUND = ["audiotestsrc is-live=true ! audioconvert", "! avenc_aac ! aacparse ! mux."];
const GENERATED = [
  "ffmpeg -re",
  "-f lavfi -i testsrc2=size=1280x720:rate=30",
  "-f lavfi -i sine=frequency=440",
  "-c:v libx264 -preset veryfast",
  "-tune zerolatency -pix_fmt yuv420p",
  "-g 60 -b:v 2500k -c:a aac",
];

/** Commands that send video to an address. */
export const publishCommands = {
  ffmpegGenerated: (address: string) => lines(...GENERATED, `-f flv "${address}"`),
  ffmpegFile: (address: string) => lines("ffmpeg -re -i video.mp4 -c copy", `-f flv "${address}"`),
  ffmpegSrt: (address: string) => lines(...GENERATED, `-f mpegts "${address}"`),
  gstreamerSrt: (address: string) =>
    lines("gst-launch-1.0 -e", ...PICTURE, ...SOUND, "mpegtsmux name=mux alignment=7", `! srtsink uri="${address}"`),
  gstreamerRtmp: (address: string) =>
    lines(
      "gst-launch-1.0 -e",
      ...PICTURE,
      ...SOUND,
      "flvmux name=mux streamable=true",
      `! rtmp2sink location="${address}"`,
    ),
};

const lines = (...parts: readonly string[]): string => parts.join(" \\\n  ");
