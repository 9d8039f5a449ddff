import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../clock.ts";
import { until } from "../retry.ts";
import { StartupError } from "../startup-error.ts";
import { stopInSteps } from "./postgres-process.ts";

const BACKENDS_GONE_WITHIN_MS = 5_000;

/**
 * Ensure that no PostgreSQL of an earlier run works on the cluster. Called by the holder of the data folder's lock, so a server found here has
 * lost its Weir and is probably already shutting down. Backends that outlived their server, and can wait for each other for ever, are killed.
 * PostgreSQL takes any process id in a lock file for a living server, so files that name another program, or a dead process that nobody has
 * reaped, are removed; last, because they are what makes PostgreSQL look for such backends itself.
 */
export async function stopOrphan(cluster: string, socketLock: string, clock: Clock): Promise<void> {
  if (!existsSync(cluster)) return;
  const lockFile = join(cluster, "postmaster.pid");
  const pid = readPid(lockFile);
  if (pid !== null && isPostgresOn(pid, cluster)) await stopServer(pid, cluster, clock);
  await killBackends(cluster, clock);
  for (const file of [lockFile, socketLock]) {
    const left = readPid(file);
    if (left !== null && isKnown(left)) rmSync(file, { force: true });
  }
}

/** What processes of the cluster's server have in their titles, which every user may read: the folder's identity, whatever path leads to it. */
export function clusterName(cluster: string): string {
  const { dev, ino } = statSync(cluster);
  return `weir-${dev}-${ino}`;
}

async function stopServer(pid: number, cluster: string, clock: Clock): Promise<void> {
  await stopInSteps(
    clock,
    (signal) => signalTo(pid, signal),
    () => !isAlive(pid),
  );
  if (isAlive(pid)) throw stillUsed(cluster, pid);
}

async function killBackends(cluster: string, clock: Clock): Promise<void> {
  for (const backend of processesOf(cluster)) signalTo(backend, "SIGKILL");
  await until(clock, BACKENDS_GONE_WITHIN_MS, () => processesOf(cluster).length === 0);
  const [left] = processesOf(cluster);
  if (left !== undefined) throw stillUsed(cluster, left);
}

const stillUsed = (cluster: string, pid: number): StartupError =>
  new StartupError(`the database in ${cluster} is still used by process ${pid}, which does not stop: end it first`);

/** Living processes of the cluster's server, where the system has `/proc`. Elsewhere PostgreSQL refuses to start beside them. */
function processesOf(cluster: string): number[] {
  const name = clusterName(cluster);
  const owner = statSync(cluster).uid;
  return processIds().filter(
    (pid) =>
      readProc(pid, "comm") === "postgres\n" &&
      new RegExp(`\\b${name}\\b`).test(readProc(pid, "cmdline") ?? "") &&
      ownerOf(pid) === owner &&
      isAlive(pid),
  );
}

function processIds(): number[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc").map(Number).filter(Number.isInteger);
}

function ownerOf(pid: number): number | null {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid ?? null;
}

function readPid(lockFile: string): number | null {
  if (!existsSync(lockFile)) return null;
  const pid = Number.parseInt(readFileSync(lockFile, "utf8"), 10);
  return pid > 1 ? pid : null;
}

function isAlive(pid: number): boolean {
  return isKnown(pid) && !isZombie(pid);
}

/** Whether the system has a process of this id, be it dead and not reaped. */
function isKnown(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
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
  if (!isAlive(pid)) return false;
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
