import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { inject } from "vitest";
import { makeTestFolder } from "../../src/platform/test-folder-rig.ts";
import { PRESET_API_KEY, WeirServer } from "./weir-server.ts";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const READY_WITHIN_MS = 30_000;

export interface WeirProcessOptions {
  /** By default a temporary folder, removed with the process. */
  readonly dataFolder?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The repository that it runs from; by default this one. */
  readonly root?: string;
  /** A program that starts it with other limits, with arguments, for example `["prlimit", "--nofile=4096"]`. */
  readonly through?: readonly string[];
  /** How long a start may take; 30 s by default. */
  readonly readyWithinMs?: number;
  /** Its data is too large for a folder in memory. */
  readonly isLarge?: boolean;
}

// An interrupted test run must leave no server behind.
const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** A server for one test or file, run like `npm start`, on loopback with its own ports and data folder. */
export class WeirProcess extends WeirServer {
  #env: Readonly<Record<string, string>>;
  readonly #ownsFolder: boolean;
  readonly #readyWithinMs: number;
  readonly #through: readonly string[];
  #root: string;
  #child: ChildProcess | null = null;

  private constructor(dataFolder: string, httpPort: number, rtmpPort: number, options: WeirProcessOptions) {
    super({ dataFolder, httpPort, rtmpPort });
    this.#env = options.env ?? {};
    this.#root = options.root ?? ROOT;
    this.#through = options.through ?? [];
    this.#ownsFolder = options.dataFolder === undefined;
    this.#readyWithinMs = options.readyWithinMs ?? READY_WITHIN_MS;
  }

  /** Resolves when the server is ready. */
  static async start(options: WeirProcessOptions = {}): Promise<WeirProcess> {
    const dataFolder = options.dataFolder ?? (await newDataFolder(options));
    // Chosen here rather than by the server, so that the ports stay the same after a restart.
    const weir = new WeirProcess(dataFolder, await freePort(), await freePort(), options);
    try {
      await weir.restart();
    } catch (error) {
      await weir[Symbol.asyncDispose]();
      throw error;
    }
    return weir;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Starts it again on the same folder and ports, from now on with these settings more, or from another repository. It must not be running. */
  async restart({ env, root }: Pick<WeirProcessOptions, "env" | "root"> = {}): Promise<void> {
    this.#env = { ...this.#env, ...env };
    this.#root = root ?? this.#root;
    const main = join(this.#root, "apps/server/src/main.ts");
    const [program = process.execPath, ...args] = [...this.#through, process.execPath, main];
    const log = openSync(this.logPath, "a");
    const child = spawn(program, args, {
      stdio: ["ignore", log, log],
      env: {
        PATH: process.env.PATH,
        WEIR_DATA_DIR: this.dataFolder,
        WEIR_HOST: "127.0.0.1",
        WEIR_HTTP_PORT: String(this.httpPort),
        WEIR_METRICS_PORT: "off",
        WEIR_SRT_PORT: "off",
        WEIR_STUN_PORT: "off",
        WEIR_WEBRTC_PORT: "0",
        WEIR_RTMP_PORT: String(this.rtmpPort),
        WEIR_PUBLIC_URL: this.url,
        WEIR_API_KEY: PRESET_API_KEY,
        ...this.#env,
      },
    });
    this.#child = child;
    running.add(child);
    child.once("exit", () => running.delete(child));
    closeSync(log);
    const deadline = Date.now() + this.#readyWithinMs;
    while (!hasExited(child) && !(await isReady(this.url))) {
      if (Date.now() > deadline) {
        // Nobody gets a server that did not start, so nobody would stop it.
        await this.kill();
        throw new Error(`the server was not ready within ${this.#readyWithinMs} ms: ${this.log}`);
      }
      // A timer that keeps the process alive: without one, a test run whose server has ended would end too, with exit code 0.
      await sleep(50);
    }
    if (hasExited(child)) throw new Error(`the server did not start: ${this.log}`);
  }

  /** Sends SIGTERM. Resolves with the exit code. */
  stop(): Promise<number | null> {
    return this.#end("SIGTERM");
  }

  /** Sends SIGKILL, so that it cannot clean up. */
  kill(): Promise<number | null> {
    return this.#end("SIGKILL");
  }

  /** Stops it if running, and removes its temporary data folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await rm(this.logPath, { force: true });
    if (this.#ownsFolder) await rm(this.dataFolder, { recursive: true, force: true, maxRetries: 5 });
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child;
    if (!child) return null;
    if (!hasExited(child)) {
      const exited = new Promise((resolve) => child.once("exit", resolve));
      child.kill(signal);
      await exited;
    }
    return child.exitCode;
  }
}

/** Empty for another version or an external database, else a copy of a data folder after a first start. */
async function newDataFolder({ root, env, isLarge }: WeirProcessOptions): Promise<string> {
  const folder = isLarge ? await mkdtemp(join(tmpdir(), "weir-e2e-")) : makeTestFolder("e2e");
  if (!root && !env?.DATABASE_URL) await fillDataFolder(folder);
  return folder;
}

/** Fills an empty folder with the data of a stopped server whose account has the preset key. */
export async function fillDataFolder(folder: string): Promise<void> {
  // Preserves owners and modes: PostgreSQL refuses another user's files.
  await promisify(execFile)("cp", ["-a", `${inject("dataTemplate")}/.`, folder]);
}

/** Below the ephemeral ports of outgoing connections, which could take a port before the server does. */
const PORTS = { first: 10_000, last: 29_999 };

/** A currently free TCP port on loopback. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.first, PORTS.last + 1);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}

async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

function hasExited({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
