import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";

/**
 * Cores that this process may use: what the system gives it, or less where a container or a service has a quota (`cpu.max` of cgroup v2,
 * its own and those above it). Node's figure is in whole cores, and never below one.
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
    // Without a quota it says "max".
    if (quota && period) found.push(quota / period);
    if (path === "/") return found;
  }
}

/** Empty where the file is not there, as elsewhere than on Linux. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "";
  }
}
