import { strings } from "../shared/strings.ts";

/** A place that the command menu leads to. */
export interface Command {
  readonly label: string;
  readonly kind: string;
  readonly href: string;
  /** The browser opens it in a new tab. */
  readonly isFile?: true;
}

const { commands: text, pages, account } = strings.app;

export const pageCommands: readonly Command[] = [
  { label: pages.overview, kind: text.page, href: "/" },
  { label: pages.streams, kind: text.page, href: "/streams" },
  { label: text.liveStreams, kind: text.page, href: "/streams?state=active" },
  { label: text.wall, kind: text.page, href: "/streams/wall" },
  { label: text.unhealthyStreams, kind: text.page, href: "/streams?state=unhealthy" },
  { label: pages.assets, kind: text.page, href: "/assets" },
  { label: pages.sessions, kind: text.page, href: "/sessions" },
  { label: pages.access, kind: text.page, href: "/keys" },
  { label: text.signingKeys, kind: text.page, href: "/keys?tab=signing" },
  { label: pages.webhooks, kind: text.page, href: "/webhooks" },
  { label: pages.usage, kind: text.page, href: "/usage" },
  { label: pages.settings, kind: text.page, href: "/settings" },
  { label: account.docs, kind: text.file, href: "/docs", isFile: true },
  { label: account.api, kind: text.file, href: "/docs/reference", isFile: true },
];

/** Commands whose label contains all of the words, in any case. */
export function matching(commands: readonly Command[], words: string): Command[] {
  const wanted = words.toLowerCase().split(/\s+/);
  return commands.filter(({ label }) => wanted.every((word) => label.toLowerCase().includes(word)));
}
