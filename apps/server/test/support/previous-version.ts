import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const OWN_PACKAGES = ["client", "contract", "formats"];

export interface PreviousVersion {
  readonly tag: string;
  readonly root: string;
}

/** The newest tag before this commit, in its own folder with the current dependencies. Null without a tag or history. */
export async function checkOutPreviousVersion(): Promise<PreviousVersion | null> {
  const tag = newestTag();
  return tag ? { tag, root: await checkOut(tag) } : null;
}

/** What a commit has, in a new folder, with the current dependencies or with those of its own, which npm gets. */
export async function checkOut(commit: string, dependencies: "current" | "own" = "current"): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "weir-previous-"));
  const archive = execFileSync("git", ["archive", commit], { cwd: ROOT, maxBuffer: 1 << 30 });
  execFileSync("tar", ["-x", "-C", root], { input: archive });
  if (dependencies === "current") await linkModules(root);
  // No script is run, nor needed where the database is another one.
  else execFileSync("npm", ["ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: root });
  return root;
}

/** This repository's server as it is on the disk, in a new folder, to be changed there. */
export async function copyServer(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "weir-copy-"));
  for (const part of [
    "package.json",
    "tsconfig.base.json",
    "docs",
    "packages",
    "apps/server",
    "apps/dashboard/dist",
    "dist",
  ]) {
    const from = join(ROOT, part);
    const options = { recursive: true, filter: (path: string) => !/\/test$/.test(path) };
    if (existsSync(from)) await cp(from, join(root, part), options);
  }
  await linkModules(root);
  return root;
}

/** Whether the history has it: a copy without history has only the newest commit. */
export function hasCommit(commit: string): boolean {
  return spawnSync("git", ["cat-file", "-e", `${commit}^{commit}`], { cwd: ROOT, stdio: "ignore" }).status === 0;
}

async function linkModules(root: string): Promise<void> {
  const modules = join(root, "node_modules");
  await mkdir(join(modules, "@weir"), { recursive: true });
  for (const name of await readdir(join(ROOT, "node_modules"))) {
    if (name !== "@weir" && !name.startsWith(".")) await symlink(join(ROOT, "node_modules", name), join(modules, name));
  }
  for (const name of OWN_PACKAGES) await symlink(join(root, "packages", name), join(modules, "@weir", name));
}

function newestTag(): string | null {
  try {
    // A tagged commit is compared with the previous tag.
    const describe = ["describe", "--tags", "--abbrev=0", "HEAD^"];
    return execFileSync("git", describe, { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return null;
  }
}
