import { spawnSync } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { ROOT } from "./bench-server.ts";

/** What an installation makes beside `node_modules`. */
const BUILT = ["apps/dashboard/dist", "dist/packages"];

/**
 * Runs `work` with the folder of an installed checkout: of `version` itself if that is a folder, or of a commit, which is checked out to a temporary
 * folder. With the same lockfile as here it uses the packages of this checkout; with another it installs its own.
 */
export async function withCheckout<Result>(version: string, work: (root: string) => Promise<Result>): Promise<Result> {
  if (await isFolder(version)) return work(resolve(version));
  const commit = run(ROOT, "git", "rev-parse", "--verify", "--quiet", `${version}^{commit}`);
  const root = await mkdtemp(join(tmpdir(), "weir-bench-commit-"));
  try {
    run(ROOT, "git", "worktree", "add", "--detach", root, commit);
    if (await isSameFile("package-lock.json", root)) await linkPackages(root);
    else run(root, "npm", "ci", "--no-audit", "--no-fund");
    return await work(root);
  } finally {
    spawnSync("git", ["worktree", "remove", "--force", root], { cwd: ROOT });
    await rm(root, { recursive: true, force: true });
  }
}

/** Links each package of this checkout, but the workspaces to those of `root`. */
async function linkPackages(root: string): Promise<void> {
  const workspaces = await readdir(join(ROOT, "node_modules/@weir"));
  const nested = ["apps/dashboard", "apps/server"].map((folder) => `${folder}/node_modules`);
  for (const folder of ["node_modules", ...nested]) {
    for (const name of await readdir(join(ROOT, folder)).catch(() => []))
      if (name !== "@weir") await link(join(ROOT, folder, name), join(root, folder, name));
  }
  for (const name of workspaces) {
    const home = (await isFolder(join(root, "apps", name))) ? "apps" : "packages";
    await link(join(root, home, name), join(root, "node_modules/@weir", name));
  }
  for (const folder of BUILT) await cp(join(ROOT, folder), join(root, folder), { recursive: true }).catch(() => {});
}

async function link(target: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await symlink(target, path);
}

async function isSameFile(name: string, root: string): Promise<boolean> {
  const [here, there] = await Promise.all([ROOT, root].map((folder) => readFile(join(folder, name))));
  return here !== undefined && there !== undefined && here.equals(there);
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() ?? false;
}

/** Its output. Throws with what it printed if it fails. */
function run(cwd: string, command: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed: ${stderr || "no such commit or folder"}`);
  return stdout.trim();
}
