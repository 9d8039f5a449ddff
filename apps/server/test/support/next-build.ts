import { cp, mkdir, mkdtemp, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const MIGRATIONS = "apps/server/migrations";

/** What the next build adds, and what it takes away. */
const NEXT = {
  expand: "create table next_build (id integer); alter table stream add column next_build text not null default '';",
  contract: "alter table node alter column build set not null; drop table next_build;",
} as const;

export interface NextBuild {
  readonly root: string;
  readonly version: string;
  /** Names of its migrations. */
  readonly migrations: { readonly expand: string; readonly contract: string };
}

/** This build with another version, one migration that adds and one that takes away, in a folder of its own. */
export async function makeNextBuild(): Promise<NextBuild> {
  const root = await mkdtemp(join(tmpdir(), "weir-next-"));
  const isCopied = (path: string) => !path.includes("node_modules") && !path.includes("/test/");
  for (const part of ["package.json", "packages", "apps", "docs"])
    await cp(join(ROOT, part), join(root, part), { recursive: true, filter: isCopied });
  const modules = join(root, "node_modules");
  await mkdir(join(modules, "@weir"), { recursive: true });
  for (const name of await readdir(join(ROOT, "node_modules")))
    if (name !== "@weir" && !name.startsWith(".")) await symlink(join(ROOT, "node_modules", name), join(modules, name));
  for (const name of await readdir(join(ROOT, "packages")))
    await symlink(join(root, "packages", name), join(modules, "@weir", name));
  await symlink(join(ROOT, "apps/server/node_modules"), join(root, "apps/server/node_modules")).catch(() => {});

  const { length } = (await readdir(join(root, MIGRATIONS))).filter((file) => file.endsWith(".sql"));
  const add = async (kind: keyof typeof NEXT, number: number) => {
    const name = `${String(number).padStart(4, "0")}-next-${kind}`;
    await writeFile(join(root, MIGRATIONS, `${name}.sql`), `-- ${kind}\n${NEXT[kind]}\n`);
    return name;
  };
  const migrations = { expand: await add("expand", length + 1), contract: await add("contract", length + 2) };
  const version = "99.0.0";
  const about = join(root, "apps/server/package.json");
  await writeFile(about, JSON.stringify({ ...JSON.parse(await readFile(about, "utf8")), version }));
  return { root, version, migrations };
}
