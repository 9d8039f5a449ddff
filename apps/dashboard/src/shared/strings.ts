import { accessStrings } from "./strings/access-strings.ts";
import { accountStrings } from "./strings/account-strings.ts";
import { assetStrings } from "./strings/asset-strings.ts";
import { clipStrings } from "./strings/clip-strings.ts";
import { eventStrings } from "./strings/event-strings.ts";
import { healthStrings } from "./strings/health-strings.ts";
import { multistreamStrings } from "./strings/multistream-strings.ts";
import { overviewStrings } from "./strings/overview-strings.ts";
import { pullStrings } from "./strings/pull-strings.ts";
import { sessionStrings } from "./strings/session-strings.ts";
import { shareStrings } from "./strings/share-strings.ts";
import { streamStrings } from "./strings/stream-strings.ts";
import { usageStrings } from "./strings/usage-strings.ts";
import { viewerStrings } from "./strings/viewer-strings.ts";
import { wallStrings } from "./strings/wall-strings.ts";
import { webhookStrings } from "./strings/webhook-strings.ts";

/** Every text of the dashboard, by page. Plain English, in the words of the trade. */
export const strings = {
  app: {
    name: "Weir",
    pages: {
      overview: "Overview",
      streams: "Streams",
      assets: "Assets",
      sessions: "Sessions",
      access: "Keys",
      webhooks: "Webhooks",
      usage: "Usage",
      settings: "Settings",
      more: "More",
    },
    navigation: "Main",
    account: {
      docs: "Docs",
      api: "API reference",
      version: (version: string) => `Weir ${version}`,
      key: (name: string) => `API key: ${name}`,
      keyHint: (name: string) => `Signed in with the API key “${name}”`,
      personHint: (name: string) => `Signed in as ${name}`,
      theme: "Theme",
      themes: { auto: "System theme", light: "Light theme", dark: "Dark theme" },
      signOut: "Sign out",
    },
    shortcuts: {
      title: "Keyboard shortcuts",
      keys: [
        ["Ctrl K", "Go to a page or stream"],
        ["/", "Search"],
        ["o", "Overview"],
        ["s", "Streams"],
        ["a", "Assets"],
        ["w", "Webhooks"],
        ["?", "Keyboard shortcuts"],
      ],
    },
    commands: {
      title: "Go to",
      placeholder: "Page or stream",
      page: "Page",
      stream: "Stream",
      file: "File",
      liveStreams: "Live streams",
      wall: "Live wall",
      unhealthyStreams: "Unhealthy streams",
      signingKeys: "Signing keys",
      none: "Nothing found.",
    },
    skip: "Skip to content",
    loading: "Loading…",
    notLoaded: "Could not load this.",
    notFound: { title: "Page not found", back: "Go to streams" },
    crashed: { title: "Something went wrong on this page.", retry: "Try again" },
    panelCrashed: "This part of the page failed.",
    silent: (when: string) => `The server has not responded since ${when}. Showing older data. Reconnecting…`,
    unreachable: {
      title: "Cannot reach the server",
      body: "The server may be starting or stopped. This page retries every few seconds.",
    },
  },
  actions: {
    copy: (what: string) => `Copy ${what}`,
    copied: "Copied",
    notCopied: "The browser blocked copying. Select the text and copy it.",
    reveal: (what: string) => `Show ${what}`,
    conceal: (what: string) => `Hide ${what}`,
    cancel: "Cancel",
    close: "Close",
    save: "Save",
    saved: "Saved",
    dismiss: "Dismiss",
    nextPage: "Next page",
    firstPage: "First page",
    never: "Never",
    on: "On",
    off: "Off",
    clearFilters: "Clear filters",
    none: "—",
  },
  ticks: { one: (name: string) => `Select ${name}`, all: "Select all on this page" },
  chart: {
    empty: "No data yet",
    summary: (what: string, now: string, least: string, most: string) =>
      `${what}: now ${now}, between ${least} and ${most}`,
  },
  access: accessStrings,
  account: accountStrings,
  assets: assetStrings,
  streams: streamStrings,
  health: healthStrings,
  clips: clipStrings,
  events: eventStrings,
  multistream: multistreamStrings,
  pulls: pullStrings,
  usage: usageStrings,
  viewers: viewerStrings,
  wall: wallStrings,
  webhooks: webhookStrings,
  overview: overviewStrings,
  sessions: sessionStrings,
  share: shareStrings,
} as const;
