import { readdirSync, readFileSync } from "node:fs";
import { vi } from "vitest";

/** A process and all its descendants. Linux only. */
export function familyOf(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap((child) => familyOf(child))];
}

/** Kills all of them at once, and resolves when none runs any more. */
export async function killFamily(pids: readonly number[]): Promise<void> {
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
  await vi.waitUntil(() => !pids.some(isRunning), { timeout: 10_000, interval: 20 });
}

function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

/** A process that has ended and that its parent has not noticed yet holds nothing. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
