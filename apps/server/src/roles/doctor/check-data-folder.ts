import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { diskOf, isAlmostFull, openDataFolder, whoami } from "../../platform/data-folder.ts";
import { StartupError } from "../../platform/startup-error.ts";
import { type Check, type Finding, lookAt, ok, problem, warning } from "./finding.ts";

const GIGABYTE = 1e9;

/** Whether a server of this user can write to its folder, and has room there. */
export const checkDataFolder: Check = async ({ config }) => {
  const folder = resolve(config.dataDir);
  return [await lookAt("data folder", () => judged(folder))];
};

function judged(folder: string): Finding {
  // One that is not there yet is not created for a look.
  const path = existsSync(folder) ? openDataFolder(folder) : writableParentOf(folder);
  const owner = statSync(path).uid;
  if (path === folder && owner !== process.getuid?.())
    return problem(
      "data folder",
      `${folder} belongs to user ${owner}, and you are ${whoami()}: run Weir as its owner (sudo -u '#${owner}'), or change the owner (chown -R)`,
    );
  return roomOn(path, folder);
}

function roomOn(path: string, folder: string): Finding {
  const disk = diskOf(path);
  const free = `${(disk.freeBytes / GIGABYTE).toFixed(1)} GB are free`;
  if (isAlmostFull(disk))
    return warning("data folder", `${folder} is almost full, ${free}: make room, or recordings pause below 128 MiB`);
  return ok("data folder", `${folder} ${path === folder ? "is writable" : "can be created"}, ${free}`);
}

function writableParentOf(folder: string): string {
  let parent = dirname(folder);
  while (!existsSync(parent)) parent = dirname(parent);
  try {
    accessSync(parent, constants.W_OK | constants.X_OK);
  } catch {
    throw new StartupError(
      `cannot create the data folder ${folder} as ${whoami()}: change the owner of ${parent}, or set WEIR_DATA_DIR`,
    );
  }
  return parent;
}
