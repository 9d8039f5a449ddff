import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { UntilStopped } from "./until-stopped.ts";

const CHILD = fileURLToPath(new URL("../support/webrtc-viewers-child.ts", import.meta.url));
const TRY_AGAIN_MS = 500;
const LOOK_MS = 500;
/** A player asks again when it has seen nothing for this long. */
const PATIENCE_MS = 4_000;

interface Report {
  readonly viewers: number;
  readonly bytes: number;
}

/** Viewers over WebRTC who ask again when they see nothing. */
export class WhepViewers implements AsyncDisposable {
  /** Bytes of all connections. */
  bytes = 0;
  connections = 0;
  readonly #work: UntilStopped;

  constructor(url: string, count: number) {
    this.#work = new UntilStopped(async (signal) => {
      while (!signal.aborted) {
        await this.#watch(url, count, signal);
        await sleep(TRY_AGAIN_MS);
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#work.stop();
  }

  async #watch(url: string, count: number, signal: AbortSignal): Promise<void> {
    const child: ChildProcess = spawn(process.execPath, [CHILD, url, String(count)], {
      stdio: ["ignore", "pipe", "ignore", "ipc"],
    });
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    let [bytes, seenAt, isGone] = [0, Date.now(), false];
    void ended.then(() => {
      isGone = true;
    });
    if (child.stdout) {
      createInterface(child.stdout).on("line", (line) => {
        const report = JSON.parse(line) as Report;
        if (report.bytes > bytes) {
          if (bytes === 0) this.connections += report.viewers;
          this.bytes += report.bytes - bytes;
          [bytes, seenAt] = [report.bytes, Date.now()];
        }
      });
    }
    while (!signal.aborted && !isGone && Date.now() - seenAt < PATIENCE_MS) await sleep(LOOK_MS);
    child.kill("SIGKILL");
    await ended;
  }
}
