/** Texts of the source that a stream is pulled from. */
export const pullStrings = {
  title: "Pull from a source",
  hint: "Weir connects to a camera, an encoder or another server and publishes what it sends. No encoder has to reach Weir.",
  set: "Set source",
  edit: "Change source",
  start: "Start pull",
  restart: "Restart pull",
  stop: "Stop pull",
  remove: "Remove source",
  removed: "Source removed",
  removeAsk: {
    title: (name: string) => `Remove the source of ${name}?`,
    body: "Weir stops pulling immediately. The stream, its key and its recordings stay.",
    confirm: "Remove source",
  },
  source: "Source",
  since: "Since",
  notStarted: "Not started",
  states: {
    waiting: "Waiting",
    connecting: "Connecting",
    pulling: "Pulling",
    retrying: "Retrying",
    ended: "Ended",
  },
  form: {
    title: "Pull from a source",
    address: "Address",
    addressHint:
      "rtsp:// for a camera, https:// or http:// for HLS, MPEG-TS and MP4 files, rtmp:// for an RTMP server, srt:// for an SRT listener. User name and password may be in it; Weir never shows them again.",
    again:
      "Weir does not show the present user name, password or keys. Type the whole address, and the headers, again.",
    headers: "Headers",
    headersHint:
      "Optional, one on each line, for example “Authorization: Bearer …”. They go to the source's own host alone.",
    badHeaders: "Each line needs a name, a colon and a value.",
    onlyWhileWatched: "Only while watched",
    onlyWhileWatchedHint:
      "Weir connects to the source when a viewer comes, and lets it go about a minute after the last one left. The first viewer waits for it; the preview in this dashboard is no viewer.",
    try: "Try this source",
    found: "Found:",
    submit: "Save and start",
  },
  video: (size: string, codec: string, rate: string | null) =>
    `video ${size} (${codec})${rate === null ? "" : `, ${rate} frames/s`}`,
  audio: (kilohertz: string, channels: string, codec: string) => `audio ${kilohertz} kHz, ${channels} (${codec})`,
  channels: (count: number) => (count === 1 ? "mono" : count === 2 ? "stereo" : `${count} channels`),
} as const;
