import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../clock.ts";
import { StartupError } from "../startup-error.ts";
import { stopInSteps } from "./postgres-process.ts";

/**
 * Ensure that no PostgreSQL of an earlier run works on the cluster. Called by the holder of the data folder's lock, so a server found here has
 * lost its Weir and is probably already shutting down. A lock file whose process id now belongs to another program would stop the next start,
 * and is removed.
 */
export async function stopOrphan(cluster: string, clock: Clock): Promise<void> {
  const lockFile = join(cluster, "postmaster.pid");
  const pid = readPid(lockFile);
  if (pid === null || !isAlive(pid)) return;
  if (!isPostgresOn(pid, cluster)) {
    rmSync(lockFile, { force: true });
    return;
  }
  await stopInSteps(
    clock,
    (signal) => signalTo(pid, signal),
    () => !isAlive(pid),
  );
  if (isAlive(pid))
    throw new StartupError(
      `the database in ${cluster} is still used by process ${pid}, which does not stop: end it first`,
    );
}

function readPid(lockFile: string): number | null {
  if (!existsSync(lockFile)) return null;
  const pid = Number.parseInt(readFileSync(lockFile, "utf8"), 10);
  return pid > 1 ? pid : null;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** A dead process that was not reaped, as in a container whose first process does not reap. */
function isZombie(pid: number): boolean {
  const stat = readProc(pid, "stat");
  return stat !== null && /\) [ZX]/.test(stat);
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process ended between the check and the signal.
  }
}

function isPostgresOn(pid: number, cluster: string): boolean {
  const command = readProc(pid, "cmdline")?.replaceAll("\0", " ") ?? commandByPs(pid);
  return command.includes("postgres") && command.includes(cluster);
}

function readProc(pid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return null;
  }
}

function commandByPs(pid: number): string {
  try {
    return execFileSync("ps", ["-o", "command=", "-p", String(pid)], { encoding: "utf8" });
  } catch {
    return "";
  }
}
