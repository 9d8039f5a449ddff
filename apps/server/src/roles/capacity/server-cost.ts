import { commandOf, costOf, cpuOfThreads, processTree } from "./process-cost.ts";

/** What a server takes of its machine. */
export interface ServerCost {
  /** Cores, of all its processes together. */
  readonly cores: number;
  /** Cores of the thread that receives, packages and serves. */
  readonly mainThread: number;
  /** Cores of the busiest thread of the WebRTC process. */
  readonly webrtcThread: number;
  /** Memory of all its processes (PSS). */
  readonly bytes: number;
}

export const NO_COST: ServerCost = { cores: 0, mainThread: 0, webrtcThread: 0, bytes: 0 };

/** The cost of one of `count` things that together made the difference. */
export function costOfEach(before: ServerCost, after: ServerCost, count: number): ServerCost {
  const each = (of: keyof ServerCost) => Math.max(0, after[of] - before[of]) / count;
  return {
    cores: each("cores"),
    mainThread: each("mainThread"),
    webrtcThread: each("webrtcThread"),
    bytes: each("bytes"),
  };
}

/** What the server with this process id takes while `work` runs. A process that ends meanwhile is left out. */
export async function serverCost(pid: number, work: () => Promise<unknown>): Promise<ServerCost> {
  const before = new Map(processTree(pid).map((one) => [one, cpuOfThreads(one)]));
  const startedAt = performance.now();
  await work();
  const seconds = (performance.now() - startedAt) / 1000;
  const pids = processTree(pid);
  const used = pids.map((one) => {
    const earlier = before.get(one);
    // One that has come meanwhile used all of it meanwhile.
    return [...cpuOfThreads(one)].map(([thread, cpu]) => ({
      thread,
      cores: (cpu - (earlier?.get(thread) ?? 0)) / seconds,
    }));
  });
  const webrtc = pids.findIndex((one) => commandOf(one).includes("webrtc-child"));
  return {
    cores: used.flat().reduce((sum, { cores }) => sum + cores, 0),
    mainThread: used[0]?.find(({ thread }) => thread === pid)?.cores ?? 0,
    webrtcThread: Math.max(0, ...(used[webrtc] ?? []).map(({ cores }) => cores)),
    bytes: costOf(pids).pssBytes,
  };
}
