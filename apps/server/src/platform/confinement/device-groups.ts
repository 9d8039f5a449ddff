import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const GRAPHICS = "/dev/dri";

/** The groups that may use this machine's graphics devices, if it has any: hardware encoders need them. */
export function deviceGroups(): number[] {
  try {
    const nodes = readdirSync(GRAPHICS).filter((name) => name.startsWith("render"));
    return [...new Set(nodes.map((name) => statSync(join(GRAPHICS, name)).gid))];
  } catch {
    return [];
  }
}
