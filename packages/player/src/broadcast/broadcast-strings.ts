/** The words of `<weir-broadcast>`. */
export const broadcastStrings = {
  unsupported: {
    title: "This page cannot use a camera.",
    insecure:
      "Browsers allow cameras on HTTPS pages only. Open this page over HTTPS, or on the machine that serves it.",
    browser: "This browser cannot broadcast. Use a current version of Chrome, Edge, Firefox or Safari.",
  },
  source: "Video source",
  sources: { camera: "Camera", screen: "Screen" },
  camera: "Camera",
  microphone: "Microphone",
  automatic: "Automatic",
  noMicrophone: "No sound",
  mute: "Mute",
  unmute: "Unmute",
  silent: "The broadcast has no sound.",
  level: "Microphone level",
  decibels: (level: number) => `${level} dB`,
  preview: "Preview of your video",
  asking: {
    camera: "Waiting for the camera. If the browser asks, allow it.",
    screen: "Waiting for you to choose a screen or window.",
  },
  noPicture: "No video",
  begin: "Go live",
  again: "Go live again",
  end: "End broadcast",
  problems: {
    refused: {
      title: "The browser blocks the camera, screen or microphone.",
      body: "Allow it for this site in the browser's address bar, then try again.",
    },
    missing: {
      title: "No camera or microphone found.",
      body: "Connect one, or choose a screen, or No sound as the microphone.",
    },
    busy: {
      title: "The camera or microphone cannot be opened.",
      body: "Another program may be using it. Close it, then try again.",
    },
    ended: { title: "The camera or screen stopped sending video.", body: "The broadcast ended with it." },
    other: { title: "The browser could not open the camera, screen or microphone.", body: "" },
  },
  retry: "Try again",
  kept: (problem: string) => `${problem} The broadcast goes on with what it had.`,
  leave: "The broadcast ends when you leave this page.",
  unreached:
    "The server answers, but no video reaches it: a firewall may block WebRTC (UDP). Try another network, or broadcast with an encoder over RTMP.",
  state: {
    connecting: "Connecting…",
    live: "Live",
    reconnecting: "Connection lost. Reconnecting…",
    failed: "The broadcast failed",
  },
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
    none: "–",
  },
} as const;
