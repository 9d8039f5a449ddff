import { type ChildProcess, fork } from "node:child_process";
import type { Clock } from "../../platform/clock.ts";

/** How a child ended: after its work, or with a reason that a person can read. */
export type ChildEnd = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** A process that holds FFmpeg, so that this one does not. */
export interface RunningChild {
  readonly pid: number;
  /** Resolves when the child says that its work has begun; rejects with the reason when it ends before. */
  readonly begun: Promise<void>;
  /** Resolves when the process is gone. */
  readonly ended: Promise<ChildEnd>;
  /** Ends the process at once, wherever it is, and waits until it is gone. */
  kill(): Promise<void>;
  /** Asks the child to finish what it does; whoever cannot wait for it calls `kill` after. */
  finish(): void;
}

/** The messages of a child to its parent. */
export type ChildReport = { readonly type: "begun" } | { readonly type: "failed"; readonly reason: string };

/** The messages of a parent to its child, after the job. */
export const FINISH = "finish";

export interface ChildOptions {
  /** The module that the child runs. */
  readonly module: URL;
  /** Given over the channel, never in argv or the environment, which other users of the machine can read. */
  readonly job: object;
  /** It is killed when it lives longer. */
  readonly lifeMs: number;
  readonly clock: Clock;
}

/** Starts a child with nothing of this process's environment, which holds secrets, and none of its output. */
export function startMediaChild({ module, job, lifeMs, clock }: ChildOptions): RunningChild {
  const child = fork(module, [], {
    // Glibc's arenas cost a media process tens of megabytes that it never gives back.
    env: { MALLOC_ARENA_MAX: "2" },
    execArgv: [],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const begun = Promise.withResolvers<void>();
  const ended = watch(child, begun.resolve);
  ended.then((end) => begun.reject(new Error(end.ok ? "ended before it began" : end.reason)));
  begun.promise.catch(() => {}); // not every caller waits for it
  const deadline = clock.after(lifeMs, () => child.kill("SIGKILL"));
  ended.then(() => deadline.cancel());
  send(child, job);
  return {
    pid: child.pid ?? 0,
    begun: begun.promise,
    ended,
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
    finish: () => send(child, FINISH),
  };
}

function watch(child: ChildProcess, onBegun: () => void): Promise<ChildEnd> {
  let failure: string | null = null;
  child.on("message", (report: ChildReport) => {
    if (report.type === "begun") onBegun();
    else failure = report.reason;
  });
  return new Promise((resolve) => {
    child.on("error", (error) => resolve({ ok: false, reason: `cannot start the media process: ${error.message}` }));
    child.once("exit", (code, signal) => {
      const settle = (): void => {
        if (code === 0) resolve({ ok: true });
        else resolve({ ok: false, reason: failure ?? `the media process ended with ${signal ?? `code ${code}`}` });
      };
      // Its last words may still be in the channel, which closes behind them.
      if (child.connected) child.once("disconnect", settle);
      else settle();
    });
  });
}

function send(child: ChildProcess, message: object | string): void {
  // A child that is gone is told of by its exit.
  if (child.connected) child.send(message, () => {});
}
