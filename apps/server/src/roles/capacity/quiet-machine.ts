import { readdirSync, readFileSync } from "node:fs";
import { cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

const LOOK_MS = 3_000;
/** Of all cores together. */
const BUSY = 0.15;
const TICKS_PER_SECOND = 100;

/** Why a measurement here would say nothing now, in a sentence; null if the machine has nothing else to do. Takes three seconds. */
export async function busyWith(): Promise<string | null> {
  const before = { idle: idleMs(), processes: processTicks() };
  await sleep(LOOK_MS);
  const share = 1 - (idleMs() - before.idle) / (LOOK_MS * cpus().length);
  if (share < BUSY) return null;
  const busiest = [...processTicks()]
    .map(([pid, { name, ticks }]) => ({ pid, name, ticks: ticks - (before.processes.get(pid)?.ticks ?? 0) }))
    .reduce((most, one) => (one.ticks > most.ticks ? one : most), { pid: 0, name: "", ticks: 0 });
  const cores = (busiest.ticks / TICKS_PER_SECOND / (LOOK_MS / 1000)).toFixed(1);
  const most = busiest.ticks > 0 ? `, most of all ${busiest.name} (process ${busiest.pid}, ${cores} cores)` : "";
  return `other programs use ${Math.round(share * 100)} % of this machine's CPU${most}`;
}

const idleMs = (): number => cpus().reduce((sum, { times }) => sum + times.idle, 0);

function processTicks(): Map<number, { readonly name: string; readonly ticks: number }> {
  const found = new Map<number, { name: string; ticks: number }>();
  for (const entry of readdirSync("/proc")) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const [user, system] = stat
        .slice(stat.lastIndexOf(")") + 2)
        .split(" ")
        .slice(11, 13)
        .map(Number);
      found.set(pid, {
        name: stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")")),
        ticks: (user ?? 0) + (system ?? 0),
      });
    } catch {
      // It has ended.
    }
  }
  return found;
}
