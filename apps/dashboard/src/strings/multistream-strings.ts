/** Texts of a stream's multistream targets. The states speak in the words of the interface specification, section 3.3. */
export const multistreamStrings = {
  title: "Targets",
  none: "This stream is forwarded nowhere. Targets are given with the API, as multistream.targets of the stream.",
  keptOnly: "This server keeps the targets; it does not forward to them yet.",
  states: { Idle: "Idle", Pending: "Pending", Online: "Online", Offline: "Offline" },
  hints: {
    Idle: "The stream is not active.",
    Pending: "Weir is trying to connect to the target.",
    Online: "The target is connected.",
    Offline: "The connection failed. Change the target and start the stream again.",
  },
  sends: (profile: string) => `Gets ${profile}`,
  videoOnly: "without sound",
  id: "target id",
} as const;
