import type { BroadcastState } from "../features/broadcast/whip-publisher.ts";

/** Broadcasting from the browser. */
export const broadcastStrings = {
  title: "Broadcast from this browser",
  open: "Broadcast from browser",
  back: "Back to the stream",
  insecure: {
    title: "Camera not available here",
    body: "Browsers give a camera to pages that came by HTTPS only. Open the dashboard by HTTPS, or on the machine that runs Weir.",
  },
  running: {
    title: "Somebody is broadcasting",
    body: "Going live here takes the stream over from the encoder that is sending now.",
  },
  source: "Picture",
  sources: { camera: "Camera", screen: "Screen" },
  camera: "Camera",
  microphone: "Microphone",
  automatic: "Automatic",
  level: "Microphone level",
  preview: "Preview",
  begin: "Go live",
  end: "End broadcast",
  noMedia: (reason: string) => `The browser gave no picture: ${reason}`,
  leave: "The broadcast ends when you leave this page.",
  state: {
    connecting: "Connecting…",
    live: "Live",
    reconnecting: "Connection lost. Reconnecting…",
    failed: "The broadcast ended",
  } satisfies Record<BroadcastState, string>,
  figures: {
    rate: "Sending",
    picture: "Picture",
    loss: "Packets lost",
    roundTrip: "Round trip",
    retransmits: "Sent again",
    pictureOf: (width: number, height: number, fps: number) => `${width}×${height}, ${Math.round(fps)} fps`,
    megabits: (bitsPerSecond: number) => `${(bitsPerSecond / 1e6).toFixed(1)} Mbit/s`,
    percent: (fraction: number) => `${(fraction * 100).toFixed(1)} %`,
    milliseconds: (ms: number) => `${Math.round(ms)} ms`,
  },
} as const;
