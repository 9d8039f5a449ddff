/** The player, in the dashboard and on the public pages. */
export const playerStrings = {
  label: "Live video",
  unmute: "Unmute",
  loading: "Loading the video",
  realTime: "Real time",
  realTimeHint: "Watch by WebRTC, about half a second behind",
  noRealTime: "Real time is not available here. Playing with a few seconds of delay.",
  quality: "Quality",
  speed: "Speed",
  auto: "Auto",
  autoAt: (quality: string) => `Auto (${quality})`,
  behind: (seconds: string) => `${seconds} s behind live`,
  retrying: (why: string) => `${why} Retrying…`,
  unreachable: "Could not load the video.",
  refused: "Playback refused: this video needs a valid access token.",
  undecodable: "This browser cannot decode the video.",
  unsupported: "This browser cannot play HLS.",
} as const;
