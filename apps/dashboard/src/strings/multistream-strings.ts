/** Texts of a stream's multistream targets. */
export const multistreamStrings = {
  title: "Targets",
  none: {
    title: "Multistreaming is not available yet",
    body: "This version does not forward streams to other services. Targets set through the API are stored for later.",
  },
  keptOnly: "This version stores targets but does not forward streams to them yet.",
  states: { Idle: "Idle", Pending: "Pending", Online: "Online", Offline: "Offline" },
  hints: {
    Idle: "The stream is not active.",
    Pending: "Connecting to the target.",
    Online: "The target is connected.",
    Offline: "The connection failed. Update the target and restart the stream.",
  },
  sends: (profile: string) => `Sends ${profile}`,
  videoOnly: "without audio",
  id: "target ID",
} as const;
