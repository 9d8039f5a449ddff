/** Texts of the wall of live streams. */
export const wallStrings = {
  title: "Live wall",
  unhealthyOnly: "Unhealthy only",
  none: { title: "No stream is live", body: "Every stream appears here with its picture while it is live." },
  noMatch: "No live streams match.",
} as const;
