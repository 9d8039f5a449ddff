import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";

const PERIOD_US = 100_000;
const PULSE_MS = 100;
const FOLLOW_MS = 200;

/** Gives processes, and those that join them, a share of one core. Linux only. */
export interface CpuBrake {
  /** `cgroup v1`, `cgroup v2`, or `SIGSTOP pulses` where this user may not make a group. */
  readonly kind: string;
  /** All the CPU again. */
  release(): void;
  /** The processes that were held up. */
  readonly seen: ReadonlySet<number>;
  [Symbol.dispose](): void;
}

/** Holds up the processes that `pids` names now and later. With `CPU_BRAKE=signals` it makes no group. */
export function brakeCpu(pids: () => readonly number[], cores: number): CpuBrake {
  const seen = new Set<number>();
  const group = process.env.CPU_BRAKE === "signals" ? null : makeGroup(cores);
  const timer = setInterval(() => follow(pids(), seen, group?.add ?? (() => {})), FOLLOW_MS);
  const pulses = group ? null : startPulses(pids, cores);
  return {
    kind: group?.kind ?? "SIGSTOP pulses",
    seen,
    release: () => {
      group?.release();
      pulses?.();
    },
    [Symbol.dispose]() {
      clearInterval(timer);
      pulses?.();
      group?.remove(seen);
    },
  };
}

function follow(pids: readonly number[], seen: Set<number>, add: (pid: number) => void): void {
  for (const pid of pids) {
    if (seen.has(pid)) continue;
    seen.add(pid);
    attempt(() => add(pid));
  }
}

/** Null where groups of the kernel cannot be used. */
function makeGroup(cores: number) {
  const name = `weir-test-${process.pid}`;
  const kinds = [
    { kind: "cgroup v1", root: "/sys/fs/cgroup/cpu", limit: writeV1 },
    { kind: "cgroup v2", root: "/sys/fs/cgroup", limit: writeV2 },
  ];
  for (const { kind, root, limit } of kinds) {
    const folder = `${root}/${name}`;
    const isMade = attempt(() => {
      mkdirSync(folder, { recursive: true });
      limit(folder, Math.round(cores * PERIOD_US));
    });
    if (!isMade) {
      attempt(() => rmdirSync(folder));
      continue;
    }
    const addTo = (parent: string) => (pid: number) => writeFileSync(`${parent}/cgroup.procs`, String(pid));
    return {
      kind,
      add: addTo(folder),
      release: () => limit(folder, null),
      remove: (pids: ReadonlySet<number>) => {
        for (const pid of pids) attempt(() => addTo(root)(pid));
        attempt(() => rmdirSync(folder));
      },
    };
  }
  return null;
}

function writeV1(folder: string, quotaUs: number | null): void {
  writeFileSync(`${folder}/cpu.cfs_period_us`, String(PERIOD_US));
  // The kernel takes no quota below a millisecond.
  writeFileSync(`${folder}/cpu.cfs_quota_us`, String(quotaUs === null ? -1 : Math.max(1000, quotaUs)));
}

function writeV2(folder: string, quotaUs: number | null): void {
  writeFileSync(`${folder}/cpu.max`, `${quotaUs === null ? "max" : Math.max(1000, quotaUs)} ${PERIOD_US}`);
}

/** Stops the processes for most of each tenth of a second. Returns what ends it. */
function startPulses(pids: () => readonly number[], cores: number): () => void {
  // Those that are there now: the number of one that is gone may be another program's.
  const signal = (name: "SIGSTOP" | "SIGCONT"): void => {
    for (const pid of pids()) attempt(() => process.kill(pid, name));
  };
  const timer = setInterval(() => {
    signal("SIGCONT");
    setTimeout(() => signal("SIGSTOP"), PULSE_MS * Math.min(1, cores));
  }, PULSE_MS);
  return () => {
    clearInterval(timer);
    setTimeout(() => signal("SIGCONT"), PULSE_MS * 2);
  };
}

/** Seconds of CPU that a process has used; 0 for one that is gone. */
export function cpuSeconds(pid: number): number {
  let seconds = 0;
  attempt(() => {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [user = 0, system = 0] = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 13)
      .map(Number);
    seconds = (user + system) / 100;
  });
  return seconds;
}

function attempt(action: () => void): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}
