import { readdirSync, readFileSync } from "node:fs";
import { vi } from "vitest";

/** Kills a process and all its descendants at once, and resolves when none runs any more. Linux only. */
export async function killFamily(pid: number): Promise<void> {
  // First, so that it starts no further child.
  send(pid, "SIGSTOP");
  const pids = familyOf(pid);
  for (const each of pids) send(each, "SIGKILL");
  await vi.waitUntil(() => !pids.some(isRunning), { timeout: 60_000, interval: 20 });
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}

/** A process and all its descendants. Linux only. */
export function familyOf(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap((child) => familyOf(child))];
}

/** The file of TypeScript that a process runs, without its ending; "a child" for any other. */
export function commandOf(pid: number): string {
  try {
    return /([\w-]+)\.ts/.exec(readFileSync(`/proc/${pid}/cmdline`, "latin1"))?.[1] ?? "a child";
  } catch {
    return "a child that had ended";
  }
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
