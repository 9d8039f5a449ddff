import { accessStrings } from "./strings/access-strings.ts";
import { accountStrings } from "./strings/account-strings.ts";
import { eventStrings } from "./strings/event-strings.ts";
import { healthStrings } from "./strings/health-strings.ts";
import { multistreamStrings } from "./strings/multistream-strings.ts";
import { streamStrings } from "./strings/stream-strings.ts";
import { viewerStrings } from "./strings/viewer-strings.ts";
import { webhookStrings } from "./strings/webhook-strings.ts";

/** Every text of the dashboard, by room. A sentence says what happened, to which thing, and what to do. */
export const strings = {
  app: {
    name: "Weir",
    rooms: {
      streams: "Streams",
      sessions: "Sessions",
      access: "Access",
      webhooks: "Webhooks",
      settings: "Settings",
    },
    navigation: "Rooms",
    skip: "Skip to content",
    loading: "Asking the server …",
    notFound: { title: "There is nothing at this address", back: "Go to the streams" },
    crashed: { title: "This page broke", retry: "Try again" },
    silent: (when: string) => `The server has not answered since ${when}. What you see is from then; asking again …`,
    unreachable: {
      title: "The server does not answer",
      body: "Weir may be starting, or stopped. This page asks again every few seconds.",
    },
  },
  actions: {
    copy: (what: string) => `Copy ${what}`,
    copied: "Copied",
    notCopied: "The browser refused; select the text and copy it",
    reveal: (what: string) => `Show ${what}`,
    conceal: (what: string) => `Hide ${what}`,
    cancel: "Cancel",
    close: "Close",
    save: "Save",
    dismiss: "Dismiss",
    nextPage: "Older",
    firstPage: "Newest",
    never: "Never",
    on: "On",
    off: "Off",
    none: "—",
  },
  chart: {
    empty: "Nothing measured yet",
    summary: (what: string, now: string, least: string, most: string) =>
      `${what}: now ${now}, from ${least} to ${most}`,
  },
  access: accessStrings,
  account: accountStrings,
  streams: streamStrings,
  health: healthStrings,
  events: eventStrings,
  multistream: multistreamStrings,
  viewers: viewerStrings,
  webhooks: webhookStrings,
  sessions: {
    title: "Sessions",
    columns: {
      stream: "Stream",
      started: "Started",
      duration: "Length",
      size: "Received",
      recording: "Recording",
    },
    empty: "No session yet. Each time a stream is live becomes one.",
    emptyStream: "This stream was never live. Each time it is becomes a session here.",
    live: "Live",
    play: "Play",
    close: "Close",
    mp4: "MP4",
    copyAddress: "playback address",
    player: (when: string) => `Recording of ${when}`,
    recording: {
      ready: "Ready",
      live: "Being recorded",
      waiting: "Being finished",
      failed: "Failed",
      deleted: "Deleted",
      none: "Not recorded",
    },
  },
  player: {
    label: "Live picture",
    unmute: "Unmute",
    full: "Fill the screen",
    leaveFull: "Leave full screen",
    quality: "Quality",
    auto: "Auto",
    autoAt: (quality: string) => `Auto (${quality})`,
    starting: "Starting the player …",
    behind: (seconds: string) => `${seconds} s behind`,
    retrying: (why: string) => `${why} Trying again …`,
    unreachable: "The video could not be fetched.",
    refused:
      "Playback was refused: this stream's playback policy lets only viewers with a credential watch. On the stream's Access tab a token or key can be tried.",
    undecodable: "This browser cannot decode the video's codec.",
    unsupported: "This browser plays no HLS.",
  },
} as const;
