import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ROOT, readSource } from "./source-files.ts";

/** The files of the repository that a server needs besides the built dashboard, as pathspecs of `git ls-files`. */
const CONTENT = [
  "package.json",
  "package-lock.json",
  ".npmrc",
  "LICENSE",
  "NOTICE",
  "README.md",
  "CHANGELOG.md",
  "SECURITY.md",
  "docs",
  "deploy",
  "tools/prepare.js",
  "bin",
  "apps/server/bin",
  "apps/*/package.json",
  "packages/*/package.json",
  "apps/server/migrations",
  "apps/server/src",
  "packages/*/src/*",
  ":(exclude)*.test.ts",
  ":(exclude)*.snap",
  ":(exclude)**/testing/**",
];
const DASHBOARD = "apps/dashboard/dist";
const PLAYER = "packages/player/dist";
const PACKAGES = "dist/packages";

/**
 * Writes `release/weir-{version}.tar.gz`: the committed files that a server needs, and the dashboard, the player and the packages built here.
 * To install it: unpack, `npm ci --omit=dev`, `npm start`.
 */
function writeRelease(): string {
  if (!existsSync(join(ROOT, DASHBOARD, "index.html"))) {
    throw new Error("the dashboard is not built; run npm ci first");
  }
  execFileSync(process.execPath, [join(ROOT, "tools/packages.ts")]);
  const { version } = JSON.parse(readSource("package.json")) as { version: string };
  const name = `weir-${version}`;
  const archive = join(ROOT, "release", `${name}.tar.gz`);
  const staging = mkdtempSync(join(tmpdir(), "weir-release-"));
  try {
    for (const path of [...committedFiles(), DASHBOARD, PLAYER, PACKAGES]) {
      mkdirSync(join(staging, name, dirname(path)), { recursive: true });
      cpSync(join(ROOT, path), join(staging, name, path), { recursive: true });
    }
    mkdirSync(dirname(archive), { recursive: true });
    execFileSync("tar", ["-czf", archive, "-C", staging, name]);
  } finally {
    rmSync(staging, { recursive: true });
  }
  return archive;
}

function committedFiles(): string[] {
  const listed = execFileSync("git", ["ls-files", "-z", "--", ...CONTENT], { cwd: ROOT, encoding: "utf8" });
  return listed.split("\0").filter((path) => path !== "");
}

console.log(writeRelease());
