/** Texts of the usage page. */
export const usageStrings = {
  title: "Usage",
  noMinutes: "0 min",
  transcoded: "Transcoded",
  transcodedHint: "Length of the source video, however many renditions",
  delivered: "Watched",
  deliveredHint: "Watch time of all viewers",
  stored: "Stored",
  storedHint: "Recordings and assets that are ready now",
  charts: "Over time",
  steps: { day: "per hour", month: "per day (UTC)" },
  chart: (what: string, step: string) => `${what} ${step}`,
  creators: "By creator",
  creator: "Creator",
  noCreator: "No creator",
} as const;
