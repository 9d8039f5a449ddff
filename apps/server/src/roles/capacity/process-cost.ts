import { readdirSync, readFileSync } from "node:fs";

const NANOSECONDS = 1e9;

/** CPU used so far and memory held (PSS: shared pages are divided among their users). Linux only. */
export interface ProcessCost {
  readonly cpuSeconds: number;
  readonly pssBytes: number;
}

/** `pid` and all its descendants. */
export function processTree(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    const id = Number(name);
    const stat = Number.isInteger(id) ? read(`/proc/${id}/stat`) : null;
    // The name in parentheses may contain anything. The parent's pid is the second field after it.
    if (stat) parents.set(id, Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
  }
  const tree = [pid];
  for (const member of tree) for (const [id, parent] of parents) if (parent === member) tree.push(id);
  return tree;
}

export function costOf(pids: readonly number[]): ProcessCost {
  let cpuSeconds = 0;
  let pssBytes = 0;
  for (const pid of pids) {
    for (const seconds of cpuOfThreads(pid).values()) cpuSeconds += seconds;
    pssBytes += Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`) ?? "")?.[1] ?? 0) * 1024;
  }
  return { cpuSeconds, pssBytes };
}

/** CPU seconds of each thread so far. Empty when the process is gone. */
export function cpuOfThreads(pid: number): ReadonlyMap<number, number> {
  const cpuOf = (thread: string) => Number(read(`/proc/${pid}/task/${thread}/schedstat`)?.split(" ")[0] ?? 0);
  return new Map(list(`/proc/${pid}/task`).map((thread) => [Number(thread), cpuOf(thread) / NANOSECONDS]));
}

const TICKS_PER_SECOND = 100;

/** CPU of this process and its exited children. */
export function ownCpuSeconds(): number {
  const stat = read("/proc/self/stat") ?? "";
  const [user, system, childUser, childSystem] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 15)
    .map(Number);
  return ((user ?? 0) + (system ?? 0) + (childUser ?? 0) + (childSystem ?? 0)) / TICKS_PER_SECOND;
}

/** Resident memory of one process. */
export function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(read(`/proc/${pid}/status`) ?? "")?.[1] ?? 0) * 1024;
}

/** CPU seconds that the processes use while `work` runs. */
export async function cpuDuring(pids: readonly number[], work: () => Promise<unknown>): Promise<number> {
  const before = costOf(pids).cpuSeconds;
  await work();
  return costOf(pids).cpuSeconds - before;
}

/** The command line of a process; empty when it is gone. */
export const commandOf = (pid: number): string => read(`/proc/${pid}/cmdline`) ?? "";

/** Null if the process has exited or is not readable. */
function read(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
