import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";

/**
 * Cores that this process may use: the system's, or less if a container or service has a quota (`cpu.max` of cgroup v2, its own and those above
 * it). Node reports whole cores, at least one.
 */
export function availableCores(root = "/"): number {
  return Math.min(availableParallelism(), ...quotas(root));
}

function quotas(root: string): number[] {
  const group = /^0::(\/.*)$/m.exec(read(join(root, "proc/self/cgroup")))?.[1];
  if (group === undefined) return [];
  const found: number[] = [];
  for (let path = group; ; path = dirname(path)) {
    const [quota, period] = read(join(root, "sys/fs/cgroup", path, "cpu.max"))
      .split(" ")
      .map(Number);
    // Without a quota the file says "max".
    if (quota && period) found.push(quota / period);
    if (path === "/") return found;
  }
}

/** Empty if the file does not exist, as on systems other than Linux. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "";
  }
}
