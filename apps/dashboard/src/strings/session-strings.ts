/** Texts of the sessions and of one session's page. */
export const sessionStrings = {
  title: "Sessions",
  columns: {
    stream: "Stream",
    started: "Started",
    duration: "Duration",
    size: "Received",
    recording: "Recording",
  },
  empty: {
    title: "No sessions yet",
    body: "Every broadcast of a stream becomes a session, with its charts, events and recording.",
  },
  emptyStream: "This stream has never been live. Each broadcast will appear here as a session.",
  live: "Live",
  play: "Play",
  close: "Close",
  mp4: "MP4",
  download: "Download MP4",
  copyAddress: "playback address",
  player: (when: string) => `Recording of ${when}`,
  recording: {
    ready: "Ready",
    live: "Recording",
    waiting: "Finishing",
    failed: "Failed",
    deleted: "Deleted",
    none: "Not recorded",
  },
} as const;
