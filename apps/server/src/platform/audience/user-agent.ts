import Bowser from "bowser";

/** The software and device behind a `User-Agent` header; empty texts are unknown. */
export interface UserAgent {
  /** `desktop`, `mobile`, `tablet`, `tv` or `bot`. */
  readonly deviceType: string;
  readonly os: string;
  /** A browser, or else a player: `Chrome`, `Safari`, `VLC`. */
  readonly browser: string;
}

const MAX_LENGTH = 512;

/** The parser returns the header's own words for unknown programs, and a header could invent any number of them. */
const BROWSERS = new Set<string>(Object.values(Bowser.BROWSER_MAP));
const SYSTEMS = new Set<string>(Object.values(Bowser.OS_MAP));
const PLATFORMS = new Set<string>(Object.values(Bowser.PLATFORMS_MAP));

/** Players that are not browsers, by the first word of their header. */
const PLAYERS: Readonly<Record<string, string>> = {
  VLC: "VLC",
  Lavf: "FFmpeg",
  GStreamer: "GStreamer",
  AppleCoreMedia: "AVPlayer",
  ExoPlayerLib: "ExoPlayer",
  Kodi: "Kodi",
  mpv: "mpv",
  Roku: "Roku",
};

/** Every field is one of a fixed set of words, whatever the header says. */
export function readUserAgent(header: string): UserAgent {
  if (header === "") return { deviceType: "", os: "", browser: "" };
  const { platform, os, browser } = Bowser.parse(header.slice(0, MAX_LENGTH));
  const player = PLAYERS[/^[A-Za-z]+/.exec(header)?.[0] ?? ""];
  return {
    deviceType: known(PLATFORMS, platform.type),
    os: known(SYSTEMS, os.name),
    browser: player ?? known(BROWSERS, browser.name),
  };
}

const known = (names: ReadonlySet<string>, name: string | undefined): string =>
  name !== undefined && names.has(name) ? name : "";
