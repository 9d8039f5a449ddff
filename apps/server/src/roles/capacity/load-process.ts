import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const CHILD = fileURLToPath(new URL("./load-child.ts", import.meta.url));
const ANSWER_WITHIN_MS = 120_000;
const GONE_WITHIN_MS = 10_000;

export type LoadOrder =
  | { readonly type: "publish"; readonly urls: readonly string[] }
  | { readonly type: "watch"; readonly url: string; readonly count: number }
  | { readonly type: "whep"; readonly url: string; readonly count: number }
  | { readonly type: "counts" };

export interface LoadReport {
  /** Of all viewers since they began. */
  readonly requests: number;
  /** The longest time until one of these requests was answered. */
  readonly longestMs: number;
  /** Why viewers and publishers ended too early: one sentence each. */
  readonly failures: readonly string[];
  /** Why the order was not carried out. */
  readonly failure: string | null;
}

/** A process that publishes or watches. */
export class LoadProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;

  /** `prefix` are words before the program on its command line, such as `taskset -c 1`. */
  constructor(prefix: readonly string[] = []) {
    const [program = process.execPath, ...args] = [...prefix, process.execPath, CHILD];
    this.#child = spawn(program, args, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
    this.#exited = new Promise((resolve) => {
      this.#child.once("exit", () => resolve());
      this.#child.once("error", () => resolve());
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Resolves when it is carried out. Throws with the reason if it cannot be. */
  async order(order: LoadOrder): Promise<LoadReport> {
    const answered = new Promise<LoadReport>((resolve) =>
      this.#child.once("message", (told) => resolve(told as LoadReport)),
    );
    this.#child.send(order);
    const deadline = Promise.withResolvers<never>();
    const timer = setTimeout(() => deadline.reject(new Error("a load process did not answer")), ANSWER_WITHIN_MS);
    const gone = this.#exited.then(() => Promise.reject(new Error("a load process ended")));
    gone.catch(() => {});
    const report = await Promise.race([answered, deadline.promise, gone]).finally(() => clearTimeout(timer));
    if (report.failure !== null) throw new Error(report.failure);
    return report;
  }

  /** Ends its broadcasts and its viewers. */
  async stop(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    const late = setTimeout(() => this.#child.kill("SIGKILL"), GONE_WITHIN_MS);
    await this.#exited.finally(() => clearTimeout(late));
  }
}
