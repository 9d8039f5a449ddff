import { cpSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../source-files.ts";
import { writeDeclarations } from "./declarations.ts";
import type { PackageArchive } from "./package-archive.ts";

const PLAYER = "packages/player";
const SCRIPTS = join(ROOT, PLAYER, "dist");

/** `@weir/player`: the scripts that the server hands out to pages, with types. It depends on no other package. */
export const playerPackage: PackageArchive = {
  name: "player",
  description: "The player and the broadcast of a Weir server, as web components",
  // The built scripts too: the archive has those.
  sources: [`${PLAYER}/src`, `${PLAYER}/build.ts`, `${PLAYER}/tsconfig.build.json`, `${PLAYER}/dist`],
  stage: async (root) => {
    mkdirSync(join(root, "dist"));
    const scripts = readdirSync(SCRIPTS).filter((name) => name.endsWith(".js"));
    for (const name of scripts) cpSync(join(SCRIPTS, name), join(root, "dist", name));
    writeDeclarations("player", join(root, "dist/types"));
    const entry = (name: string, types: string) => {
      const script = scripts.find((file) => new RegExp(`^${name}-\\d`).test(file));
      if (script === undefined) throw new Error(`there is no ${name} in ${SCRIPTS}: npm run build first`);
      return { types: `./dist/types/player/src/${types}`, default: `./dist/${script}` };
    };
    const player = entry("player", "index.d.ts");
    return {
      types: player.types,
      exports: {
        ".": player,
        "./broadcast": entry("broadcast", "broadcast/index.d.ts"),
        "./package.json": "./package.json",
      },
    };
  },
};
