import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, symlink } from "node:fs/promises";
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
  if (!tag) return null;
  const root = await mkdtemp(join(tmpdir(), "weir-previous-"));
  const archive = execFileSync("git", ["archive", tag], { cwd: ROOT, maxBuffer: 1 << 30 });
  execFileSync("tar", ["-x", "-C", root], { input: archive });
  const modules = join(root, "node_modules");
  await mkdir(join(modules, "@weir"), { recursive: true });
  for (const name of await readdir(join(ROOT, "node_modules"))) {
    if (name !== "@weir" && !name.startsWith(".")) await symlink(join(ROOT, "node_modules", name), join(modules, name));
  }
  for (const name of OWN_PACKAGES) await symlink(join(root, "packages", name), join(modules, "@weir", name));
  return { tag, root };
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
