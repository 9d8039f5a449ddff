import { readFileSync } from "node:fs";
import type { BenchServer } from "./bench-server.ts";

/** Every so many allocated bytes one is sampled: a few thousand samples in a measurement. */
const SAMPLED_BYTES = 16 * 1024;

/** What a server's main process did while `work` ran, in figures that other work on the machine does not change. */
export interface Counts {
  /** Calls that read or write. */
  readonly systemCalls: number;
  /** Bytes of JavaScript objects, also of those collected since; an estimate from samples. */
  readonly allocatedBytes: number;
  readonly queries: number;
}

/** Counts with the inspector of the server, which must have been started with one. Slows the server, so no time is measured meanwhile. */
export async function countDuring(server: BenchServer, work: () => Promise<unknown>): Promise<Counts> {
  const inspector = await Inspector.open(server.inspectorUrl);
  try {
    const queries = () => inspector.evaluate(countQueries(server.root));
    const [queriesBefore, callsBefore] = [await queries(), ioOf(server.pid).systemCalls];
    const collected = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true };
    await inspector.call("HeapProfiler.startSampling", { samplingInterval: SAMPLED_BYTES, ...collected });
    await work();
    const { profile } = (await inspector.call("HeapProfiler.stopSampling")) as { profile: { head: ProfileNode } };
    const systemCalls = ioOf(server.pid).systemCalls - callsBefore;
    return { systemCalls, allocatedBytes: bytesOf(profile.head), queries: (await queries()) - queriesBefore };
  } finally {
    inspector.close();
  }
}

/** What a process has read so far, sockets included, and its calls that read or write. */
export function ioOf(pid: number): { readonly bytesRead: number; readonly systemCalls: number } {
  const io = readFileSync(`/proc/${pid}/io`, "utf8");
  const [, bytes = "0", reads = "0", writes = "0"] = /^rchar: (\d+)\n.*\nsyscr: (\d+)\nsyscw: (\d+)$/m.exec(io) ?? [];
  return { bytesRead: Number(bytes), systemCalls: Number(reads) + Number(writes) };
}

/** The number of statements sent to the database so far, counted from the first call on: code for the server. */
const countQueries = (root: string): string => `(() => {
  const { Client } = process.getBuiltinModule("node:module").createRequire(${JSON.stringify(`${root}/apps/server/src/main.ts`)})("pg");
  if (globalThis.benchQueries === undefined) {
    globalThis.benchQueries = 0;
    const query = Client.prototype.query;
    Client.prototype.query = function (...args) { globalThis.benchQueries++; return query.apply(this, args); };
  }
  return globalThis.benchQueries;
})()`;

interface ProfileNode {
  readonly selfSize: number;
  readonly children: readonly ProfileNode[];
}

const bytesOf = ({ selfSize, children }: ProfileNode): number =>
  children.reduce((sum, child) => sum + bytesOf(child), selfSize);

/** A connection to a process's inspector (Chrome DevTools Protocol). */
export class Inspector {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (answer: { readonly result?: unknown; readonly error?: unknown }) => void>();
  #calls = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      const { id, ...answer } = JSON.parse(String(data));
      this.#waiting.get(id)?.(answer);
      this.#waiting.delete(id);
    });
  }

  static async open(url: string): Promise<Inspector> {
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve);
      socket.addEventListener("error", () => reject(new Error(`no inspector at ${url}`)));
    });
    return new Inspector(socket);
  }

  async call(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#calls;
    this.#socket.send(JSON.stringify({ id, method, params }));
    const { result, error } = await new Promise<{ result?: unknown; error?: unknown }>((resolve) =>
      this.#waiting.set(id, resolve),
    );
    if (error) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }

  async evaluate(expression: string): Promise<number> {
    const { result, exceptionDetails } = (await this.call("Runtime.evaluate", { expression })) as {
      readonly result: { readonly value?: number };
      readonly exceptionDetails?: unknown;
    };
    if (result.value === undefined) throw new Error(`the server could not count: ${JSON.stringify(exceptionDetails)}`);
    return result.value;
  }

  close(): void {
    this.#socket.close();
  }
}
