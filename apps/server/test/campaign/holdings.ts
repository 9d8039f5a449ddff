import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { commandOf, familyOf } from "../support/process-family.ts";
import type { World } from "./world.ts";

/** What a server holds of the machine, with all its processes. */
export interface Holdings {
  readonly children: number;
  readonly files: number;
  readonly sockets: number;
  /** Of the server's own processes, timers that keep them running. */
  readonly timers: number;
  /** After a collection. */
  readonly residentBytes: number;
  /** Of JavaScript, after a collection. */
  readonly heapBytes: number;
  /** Folders of sessions in the spool. */
  readonly spooled: number;
  /** Entries of its temporary folder. */
  readonly temporary: number;
  /** Of the live windows. */
  readonly pages: number;
}

/** Beyond what it held before, for each of its own processes: pools grow, code is compiled, connections of the API are kept alive; a warm transcoder and the WebRTC process stay. */
const MORE: Holdings = {
  children: 3,
  files: 40,
  sockets: 30,
  timers: 12,
  residentBytes: 400 * 1024 * 1024,
  heapBytes: 60 * 1024 * 1024,
  spooled: 0,
  temporary: 2,
  pages: 0,
};

/** Of a process that looks at itself when it is asked: see observer.js. */
interface Observed {
  readonly timers: number;
  readonly heapBytes: number;
}

const OBSERVED_WITHIN_MS = 5_000;

/** Its processes that run the server's own code: one, or a parent and its media processes. */
const ownProcesses = ({ weir }: World): number[] => {
  const [parent = 0, ...children] = familyOf(weir.pid);
  return [parent, ...children.filter((pid) => commandOf(pid) === "media-process-child")];
};

export async function holdingsOf(world: World): Promise<Holdings> {
  const { weir } = world;
  const [, ...children] = familyOf(weir.pid);
  const own = ownProcesses(world);
  const open = own.flatMap((pid) => readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`)));
  const seen = await Promise.all(own.map((pid) => observed(world, pid)));
  const kibibytes = own.map((pid) => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]));
  const spool = readdirSync(join(weir.dataFolder, "spool"), { withFileTypes: true });
  return {
    children: children.length,
    files: open.length,
    sockets: open.filter((link) => link.startsWith("socket:")).length,
    timers: sumOf(seen.map(({ timers }) => timers)),
    heapBytes: sumOf(seen.map(({ heapBytes }) => heapBytes)),
    residentBytes: sumOf(kibibytes) * 1024,
    spooled: spool.filter((one) => one.isDirectory()).length,
    temporary: readdirSync(join(world.folder, "tmp")).length,
    pages: await world.metric("weir_media_pages_in_use"),
  };
}

/** What it holds more than it may. `processes`: its media processes. */
export function grown(before: Holdings, now: Holdings, processes: number): string[] {
  return (Object.keys(MORE) as (keyof Holdings)[])
    .filter((what) => now[what] > before[what] + MORE[what] * processes)
    .map((what) => `${what}: ${before[what]} before, ${now[what]} now`);
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** Has a process of the server collect and count. */
async function observed({ folder }: World, pid: number): Promise<Observed> {
  const path = join(folder, `observed-${pid}`);
  const read = (): (Observed & { readonly nth: number }) | null => {
    try {
      return JSON.parse(readFileSync(path, "utf8"));
    } catch {
      return null;
    }
  };
  const before = read()?.nth ?? 0;
  process.kill(pid, "SIGUSR2");
  for (const until = Date.now() + OBSERVED_WITHIN_MS; Date.now() < until; await sleep(50)) {
    const now = read();
    if (now && now.nth > before) return { timers: now.timers, heapBytes: now.heapBytes };
  }
  throw new Error(`process ${pid} of the server did not count what it holds within ${OBSERVED_WITHIN_MS} ms`);
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "closed";
  }
}
