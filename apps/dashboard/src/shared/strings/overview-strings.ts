import { countText } from "../lib/quantities.ts";

const count = (number: number, one: string, several: string): string =>
  number === 1 ? `1 ${one}` : `${countText(number)} ${several}`;

/** Texts of the overview. */
export const overviewStrings = {
  title: "Overview",
  tiles: {
    live: "Live now",
    ofStreams: (total: number) => `of ${count(total, "stream", "streams")}`,
    viewers: "Viewers now",
    views: (views: number) => `${count(views, "view", "views")} in 24 hours`,
    sent: "Sent to viewers",
    unhealthy: "Unhealthy",
    webhooks: "Failing webhooks",
    ofWebhooks: (total: number) => `of ${count(total, "webhook", "webhooks")}`,
    paused: (paused: number) => `and ${paused} paused`,
    disk: "Free disk space",
    ofBytes: (total: string) => `of ${total}`,
    transcoding: "Transcoding",
    cores: (used: string, total: string) => `${used} of ${total} cores`,
  },
  troubles: {
    unhealthy: (streams: number) =>
      streams === 1 ? "1 live stream is unhealthy." : `${streams} live streams are unhealthy.`,
    showStreams: "Show unhealthy streams",
    webhooks: (failing: number, paused: number) =>
      [
        failing > 0 && `${count(failing, "webhook is", "webhooks are")} failing.`,
        paused > 0 && `${count(paused, "webhook is", "webhooks are")} paused.`,
      ]
        .filter(Boolean)
        .join(" "),
    showWebhooks: "Show webhooks",
    disk: "The disk is almost full. Recordings stop when no space is left.",
    showSessions: "Delete recordings",
  },
  live: { title: "Live now", none: "No stream is live.", all: "Show all live streams" },
  sessions: { title: "Recent sessions", all: "Show all sessions" },
} as const;
