import type { BroadcastState } from "../features/broadcast/whip-publisher.ts";

/** Broadcasting from the browser. */
export const broadcastStrings = {
  title: "Broadcast from this browser",
  open: "Broadcast from browser",
  back: "Back to the stream",
  insecure: {
    title: "Cameras are blocked here",
    body: "Browsers allow cameras on HTTPS pages only. Open the dashboard over HTTPS, or on the machine that runs Weir.",
  },
  running: {
    title: "Somebody is broadcasting",
    body: "If you go live here, you take over the stream from the current encoder.",
  },
  source: "Video source",
  sources: { camera: "Camera", screen: "Screen" },
  camera: "Camera",
  microphone: "Microphone",
  automatic: "Automatic",
  level: "Microphone level",
  preview: "Preview of your video",
  begin: "Go live",
  end: "End broadcast",
  noMedia: (reason: string) => `The browser could not open the camera, screen or microphone: ${reason}`,
  leave: "The broadcast ends when you leave this page.",
  state: {
    connecting: "Connecting…",
    live: "Live",
    reconnecting: "Connection lost. Reconnecting…",
    failed: "The broadcast ended",
  } satisfies Record<BroadcastState, string>,
  figures: {
    rate: "Sending",
    picture: "Video",
    loss: "Packets lost",
    roundTrip: "Round trip",
    retransmits: "Retransmissions",
    pictureOf: (width: number, height: number, fps: number) => `${width}×${height}, ${Math.round(fps)} fps`,
    megabits: (bitsPerSecond: number) => `${(bitsPerSecond / 1e6).toFixed(1)} Mbit/s`,
    percent: (fraction: number) => `${(fraction * 100).toFixed(1)} %`,
    milliseconds: (ms: number) => `${Math.round(ms)} ms`,
  },
} as const;
