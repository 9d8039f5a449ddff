/** Broadcasting from the browser; the words of the broadcast itself are those of its element. */
export const broadcastStrings = {
  title: "Broadcast from this browser",
  open: "Broadcast from browser",
  instead: "Publish with an encoder instead",
  running: {
    title: "This stream is live from another encoder.",
    body: "Going live here takes the stream over from it.",
  },
  leaveAsk: {
    title: "Leave and end the broadcast?",
    body: "Viewers see the stream end.",
    confirm: "End broadcast",
  },
} as const;
